/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transpose.cl - transposes. Elements are moved as integers and never converted.
 *
 *   CELL_BYTES    bytes of an element: 1, 2, 4, 8 or 16
 *   WORD_BYTES    bytes of a word, which is loaded or stored at once. A word is one element or, if
 *                 the operands are aligned for it, SPAN elements: then it has 4 bytes for elements
 *                 of 1 byte, 8 bytes for 2, and 16 bytes for 4 and 8
 *   TILE_ROWS, TILE_COLS  size of a tile of `from`
 *   SWAP_TILE     side of the square tiles of a transpose in place
 *   AT_ONCE       groups of transpose_tiled that should fit a unit, if that is given
 *   DIRECT        defined on devices whose shared memory is ordinary memory: the kernels then use
 *                 none
 *
 * A work-item loads squares of SPAN x SPAN elements, transposes them in its registers, and writes
 * them to the shared tile as words of the result; a second pass reads the words in the order of the
 * result's rows. Both passes access only whole words. The words in a row of the shared tile are
 * permuted depending on the row (SLOT), so that in both passes the work-items of one access use
 * different banks.
 */
#if CELL_BYTES == 1
typedef iso_u8 cell;
#elif CELL_BYTES == 2
typedef iso_u16 cell;
#elif CELL_BYTES == 4
typedef iso_u32 cell;
#elif CELL_BYTES == 8
typedef iso_u64 cell;
#else
typedef ISO_U32X4 cell;
#endif

#if WORD_BYTES == 1
typedef iso_u8 word;
#elif WORD_BYTES == 2
typedef iso_u16 word;
#elif WORD_BYTES == 4
typedef iso_u32 word;
#elif WORD_BYTES == 8
typedef iso_u64 word;
#else
typedef ISO_U32X4 word;
#endif

#define SPAN (WORD_BYTES / CELL_BYTES)

/* A word, or its elements: at an edge, elements that do not fill a word are moved one by one. */
typedef union piece {
    word whole;
    cell cells[SPAN];
} piece;

/* ---- squares of SPAN x SPAN elements, in registers ------------------------------------------- */

/* Transposes a square: swaps element j of word i with element i of word j. */
ISO_INLINE void turn_square(word *w)
{
#if SPAN > 1 && CELL_BYTES == 1
    const word a = (w[0] & 0x00ff00ffu) | (w[1] & 0x00ff00ffu) << 8;
    const word b = (w[1] & 0xff00ff00u) | (w[0] & 0xff00ff00u) >> 8;
    const word c = (w[2] & 0x00ff00ffu) | (w[3] & 0x00ff00ffu) << 8;
    const word d = (w[3] & 0xff00ff00u) | (w[2] & 0xff00ff00u) >> 8;
    w[0] = (a & 0xffffu) | c << 16;
    w[1] = (b & 0xffffu) | d << 16;
    w[2] = a >> 16 | (c & 0xffff0000u);
    w[3] = b >> 16 | (d & 0xffff0000u);
#elif SPAN > 1 && CELL_BYTES == 2
    const word even = (word)0x0000ffff0000ffffu, odd = ~even;
    const word low = (word)0x00000000ffffffffu, high = ~low;
    const word a = (w[0] & even) | (w[1] & even) << 16;
    const word b = (w[1] & odd) | (w[0] & odd) >> 16;
    const word c = (w[2] & even) | (w[3] & even) << 16;
    const word d = (w[3] & odd) | (w[2] & odd) >> 16;
    w[0] = (a & low) | c << 32;
    w[1] = (b & low) | d << 32;
    w[2] = a >> 32 | (c & high);
    w[3] = b >> 32 | (d & high);
#elif SPAN > 1 && CELL_BYTES == 4
    const word a = w[0], b = w[1], c = w[2], d = w[3];
    w[0] = iso_u32x4(a.x, b.x, c.x, d.x);
    w[1] = iso_u32x4(a.y, b.y, c.y, d.y);
    w[2] = iso_u32x4(a.z, b.z, c.z, d.z);
    w[3] = iso_u32x4(a.w, b.w, c.w, d.w);
#elif SPAN > 1
    const word a = w[0], b = w[1];
    w[0] = iso_u32x4(a.x, a.y, b.x, b.y);
    w[1] = iso_u32x4(a.z, a.w, b.z, b.w);
#endif
}

/* Loads the word at `at`, with `left` elements up to the edge. Elements beyond the edge are not
 * read; copies of the first stand in for them. */
ISO_INLINE word load_word(ISO_GLOBAL const cell *at, int left)
{
    piece part;
    if (left >= SPAN) {
        part.whole = *(ISO_GLOBAL const word *)at;
    } else {
        int i;
        ISO_UNROLL
        for (i = 0; i < SPAN; i++) {
            part.cells[i] = at[i < left ? i : 0];
        }
    }
    return part.whole;
}

ISO_INLINE void store_word(ISO_GLOBAL cell *at, word value, int left)
{
    if (left >= SPAN) {
        *(ISO_GLOBAL word *)at = value;
    } else {
        piece part;
        int i;
        part.whole = value;
        ISO_UNROLL
        for (i = 0; i < SPAN; i++) {
            if (i < left) {
                at[i] = part.cells[i];
            }
        }
    }
}

/* Loads a square and transposes it. Rows and columns beyond `rows_left` and `cols_left` are not
 * read; their elements are meaningless. */
ISO_INLINE void load_square(ISO_GLOBAL const cell *at, iso_i64 ld, int rows_left, int cols_left,
                            word *square)
{
    int i;
    ISO_UNROLL
    for (i = 0; i < SPAN; i++) {
        square[i] = load_word(at + (i < rows_left ? i * ld : 0), cols_left);
    }
    turn_square(square);
}

ISO_INLINE void load_whole_square(ISO_GLOBAL const cell *at, iso_i64 ld, word *square)
{
    int i;
    ISO_UNROLL
    for (i = 0; i < SPAN; i++) {
        square[i] = *(ISO_GLOBAL const word *)(at + i * ld);
    }
}

/* Stores a transposed square, with its row i at `at + i * ld`. */
ISO_INLINE void store_square(ISO_GLOBAL cell *at, iso_i64 ld, int rows_left, int cols_left,
                             const word *square)
{
    int i;
    ISO_UNROLL
    for (i = 0; i < SPAN; i++) {
        if (i < rows_left) {
            store_word(at + i * ld, square[i], cols_left);
        }
    }
}

ISO_INLINE int left_of(iso_i64 all, iso_i64 from, int most)
{
    return all - from < most ? (int)(all - from) : most;
}

/* ---- the order of tiles ---------------------------------------------------------------------- */

typedef struct place {
    iso_i64 i, j;
} place;

/* A band has `high` rows of tiles, which are processed column by column. A division of 32 bits
 * takes a fraction of one of 64. */
#define PLACE_OF(number)                                                                           \
    const number band = (number)tile / (number)(high * across), first = band * (number)high;       \
    const number rest = (number)tile - first * (number)across;                                     \
    const number left = (number)down - first < (number)high ? (number)down - first : (number)high; \
    const number j = rest / left;                                                                  \
    at.j = (iso_i64)j;                                                                             \
    at.i = (iso_i64)(first + rest - j * left);

ISO_INLINE place place_of(iso_i64 tile, iso_i64 down, iso_i64 across, iso_i64 high)
{
    place at;
    if ((down + high) * across <= 0x7fffffff) {
        PLACE_OF(iso_u32)
    } else {
        PLACE_OF(iso_i64)
    }
    return at;
}

/* Returns one of the side * (side + 1) / 2 pairs (i, j) with i <= j < side. Rows r and side - 1 - r
 * together have side + 1 pairs, so a division finds the row. */
ISO_INLINE place pair_of(iso_i64 pair, iso_i64 side)
{
    const iso_i64 row = pair / (side + 1), rest = pair - row * (side + 1);
    place at;
    if (rest < side - row) {
        at.i = row;
        at.j = row + rest;
    } else {
        at.i = side - 1 - row;
        at.j = at.i + rest - (side - row);
    }
    return at;
}

/* ---- tiled ----------------------------------------------------------------------------------- */

#if defined(DIRECT)

/* Transposes the squares of a tile one after another; `to` must not be `from`. */
ISO_KERNEL(ISO_THREADS)
transpose_tiled(ISO_GLOBAL const cell *from, iso_i64 from_offset, ISO_GLOBAL cell *to,
                iso_i64 to_offset, iso_i64 rows, iso_i64 cols, iso_i64 ld_from, iso_i64 ld_to,
                iso_i64 down, iso_i64 across, iso_i64 high)
{
    iso_i64 tile;
    for (tile = ISO_GROUP_ID(); tile < down * across; tile += ISO_GROUP_COUNT()) {
        const place at = place_of(tile, down, across, high);
        const iso_i64 row = at.i * TILE_ROWS, col = at.j * TILE_COLS;
        const int rows_left = left_of(rows, row, TILE_ROWS);
        const int cols_left = left_of(cols, col, TILE_COLS);
        ISO_GLOBAL const cell *source = from + from_offset + row * ld_from + col;
        ISO_GLOBAL cell *target = to + to_offset + col * ld_to + row;
        word square[SPAN];
        int r, c;
        for (c = ISO_LOCAL_ID() * SPAN; c < cols_left; c += ISO_THREADS * SPAN) {
            for (r = 0; r < rows_left; r += SPAN) {
                load_square(source + r * ld_from + c, ld_from, rows_left - r, cols_left - c,
                            square);
                store_square(target + c * ld_to + r, ld_to, cols_left - c, rows_left - r, square);
            }
        }
    }
}

/* Swaps square (r, c) of the upper tile with square (c, r) of the lower one, and transposes both.
 */
ISO_KERNEL(ISO_THREADS)
transpose_swap(ISO_GLOBAL cell *matrix, iso_i64 offset, iso_i64 side, iso_i64 ld, iso_i64 tiles)
{
    iso_i64 pair;
    for (pair = ISO_GROUP_ID(); pair < tiles * (tiles + 1) / 2; pair += ISO_GROUP_COUNT()) {
        const place at = pair_of(pair, tiles);
        const iso_i64 row = at.i * SWAP_TILE, col = at.j * SWAP_TILE;
        const int rows_left = left_of(side, row, SWAP_TILE);
        const int cols_left = left_of(side, col, SWAP_TILE);
        ISO_GLOBAL cell *upper = matrix + offset + row * ld + col;
        ISO_GLOBAL cell *lower = matrix + offset + col * ld + row;
        word above[SPAN], below[SPAN];
        int r, c;
        for (r = ISO_LOCAL_ID() * SPAN; r < rows_left; r += ISO_THREADS * SPAN) {
            for (c = at.i == at.j ? r : 0; c < cols_left; c += SPAN) {
                load_square(upper + r * ld + c, ld, rows_left - r, cols_left - c, above);
                load_square(lower + c * ld + r, ld, cols_left - c, rows_left - r, below);
                store_square(lower + c * ld + r, ld, cols_left - c, rows_left - r, above);
                store_square(upper + r * ld + c, ld, rows_left - r, cols_left - c, below);
            }
        }
    }
}

#else

/* TURN: words in 128 bytes, or in a row of the shared tile if that is shorter. SLOT: the place of
 * word r of row c of the shared tile. */
#define TURN(words)         ((words) * WORD_BYTES < 128 ? (words) : 128 / WORD_BYTES)
#define SLOT(c, r, high)    ((c) * ((high) / SPAN) + ((r) ^ ((c) / SPAN & (TURN((high) / SPAN) - 1))))

/* For a tile of `high` x `wide`: SQUARES is the number of squares that one work-item loads, and
 * WORDS the number of words that it stores. */
#define SQUARES(high, wide) ((high) * (wide) / (SPAN * SPAN * ISO_THREADS))
#define WORDS(high, wide)   ((high) * (wide) / (SPAN * ISO_THREADS))

/* SQUARE_ROW and SQUARE_COL: the row (counted in squares) and the first column (in elements) of
 * this work-item's square u. WORD_COL and WORD_ROW: the column (in elements) and the row (counted
 * in words) of its word u. */
#define SQUARE_NUMBER(u)    ((iso_u32)ISO_LOCAL_ID() + (iso_u32)(u) * ISO_THREADS)
#define SQUARE_ROW(u, wide) ((int)(SQUARE_NUMBER(u) / ((wide) / SPAN)))
#define SQUARE_COL(u, wide) ((int)(SQUARE_NUMBER(u) % ((wide) / SPAN)) * SPAN)
#define WORD_COL(u, high)   ((int)(SQUARE_NUMBER(u) / ((high) / SPAN)))
#define WORD_ROW(u, high)   ((int)(SQUARE_NUMBER(u) % ((high) / SPAN)))

#define SHARE_SQUARE(shared, square, u, high, wide)                                                \
    ISO_UNROLL                                                                                     \
    for (i = 0; i < SPAN; i++) {                                                                   \
        (shared)[SLOT(SQUARE_COL(u, wide) + i, SQUARE_ROW(u, wide), high)] = (square)[i];          \
    }

/* A whole tile is loaded at once, so that many loads are in flight. The few tiles that an edge cuts
 * off are loaded square by square. */
#define TAKE_TILE(shared, source, ld, rows_left, cols_left, high, wide)                            \
    if ((rows_left) == (high) && (cols_left) == (wide)) {                                          \
        word squares[SQUARES(high, wide)][SPAN];                                                   \
        int u, i;                                                                                  \
        ISO_UNROLL                                                                                 \
        for (u = 0; u < SQUARES(high, wide); u++) {                                                \
            load_whole_square((source) + SQUARE_ROW(u, wide) * SPAN * (ld) + SQUARE_COL(u, wide),  \
                              (ld), squares[u]);                                                   \
        }                                                                                          \
        ISO_UNROLL                                                                                 \
        for (u = 0; u < SQUARES(high, wide); u++) {                                                \
            turn_square(squares[u]);                                                               \
            SHARE_SQUARE(shared, squares[u], u, high, wide)                                        \
        }                                                                                          \
    } else {                                                                                       \
        int u, i;                                                                                  \
        for (u = 0; u < SQUARES(high, wide); u++) {                                                \
            const int r = SQUARE_ROW(u, wide) * SPAN, c = SQUARE_COL(u, wide);                     \
            word square[SPAN];                                                                     \
            if (r < (rows_left) && c < (cols_left)) {                                              \
                load_square((source) + r * (ld) + c, (ld), (rows_left) - r, (cols_left) - c,       \
                            square);                                                               \
                SHARE_SQUARE(shared, square, u, high, wide)                                        \
            }                                                                                      \
        }                                                                                          \
    }

#define GIVE_TILE(target, ld, rows_left, cols_left, shared, high, wide)                            \
    if ((rows_left) == (high) && (cols_left) == (wide)) {                                          \
        int u;                                                                                     \
        ISO_UNROLL                                                                                 \
        for (u = 0; u < WORDS(high, wide); u++) {                                                  \
            const int c = WORD_COL(u, high), r = WORD_ROW(u, high);                                \
            *(ISO_GLOBAL word *)((target) + c * (ld) + r * SPAN) = (shared)[SLOT(c, r, high)];     \
        }                                                                                          \
    } else {                                                                                       \
        int u;                                                                                     \
        for (u = 0; u < WORDS(high, wide); u++) {                                                  \
            const int c = WORD_COL(u, high), r = WORD_ROW(u, high);                                \
            if (c < (cols_left)) {                                                                 \
                store_word((target) + c * (ld) + r * SPAN, (shared)[SLOT(c, r, high)],             \
                           (rows_left) - r * SPAN);                                                \
            }                                                                                      \
        }                                                                                          \
    }

#if defined(AT_ONCE)
ISO_KERNEL_OF(ISO_THREADS, AT_ONCE)
#else
ISO_KERNEL(ISO_THREADS)
#endif
transpose_tiled(ISO_GLOBAL const cell *ISO_RESTRICT from, iso_i64 from_offset,
                ISO_GLOBAL cell *ISO_RESTRICT to, iso_i64 to_offset, iso_i64 rows, iso_i64 cols,
                iso_i64 ld_from, iso_i64 ld_to, iso_i64 down, iso_i64 across, iso_i64 high)
{
    ISO_SHARED word shared[TILE_ROWS * TILE_COLS / SPAN];
    iso_i64 tile;
    for (tile = ISO_GROUP_ID(); tile < down * across; tile += ISO_GROUP_COUNT()) {
        const place at = place_of(tile, down, across, high);
        const iso_i64 row = at.i * TILE_ROWS, col = at.j * TILE_COLS;
        const int rows_left = left_of(rows, row, TILE_ROWS);
        const int cols_left = left_of(cols, col, TILE_COLS);
        ISO_GLOBAL const cell *source = from + from_offset + row * ld_from + col;
        ISO_GLOBAL cell *target = to + to_offset + col * ld_to + row;
        TAKE_TILE(shared, source, ld_from, rows_left, cols_left, TILE_ROWS, TILE_COLS)
        ISO_BARRIER();
        GIVE_TILE(target, ld_to, rows_left, cols_left, shared, TILE_ROWS, TILE_COLS)
        ISO_BARRIER();
    }
}

/* Swaps a tile above the diagonal with its mirror image; a tile on the diagonal is its own image.
 */
ISO_KERNEL(ISO_THREADS)
transpose_swap(ISO_GLOBAL cell *matrix, iso_i64 offset, iso_i64 side, iso_i64 ld, iso_i64 tiles)
{
    ISO_SHARED word above[SWAP_TILE * SWAP_TILE / SPAN];
    ISO_SHARED word below[SWAP_TILE * SWAP_TILE / SPAN];
    iso_i64 pair;
    for (pair = ISO_GROUP_ID(); pair < tiles * (tiles + 1) / 2; pair += ISO_GROUP_COUNT()) {
        const place at = pair_of(pair, tiles);
        const iso_i64 row = at.i * SWAP_TILE, col = at.j * SWAP_TILE;
        const int rows_left = left_of(side, row, SWAP_TILE);
        const int cols_left = left_of(side, col, SWAP_TILE);
        ISO_GLOBAL cell *upper = matrix + offset + row * ld + col;
        ISO_GLOBAL cell *lower = matrix + offset + col * ld + row;
        TAKE_TILE(above, upper, ld, rows_left, cols_left, SWAP_TILE, SWAP_TILE)
        if (at.i != at.j) {
            TAKE_TILE(below, lower, ld, cols_left, rows_left, SWAP_TILE, SWAP_TILE)
        }
        ISO_BARRIER();
        GIVE_TILE(lower, ld, rows_left, cols_left, above, SWAP_TILE, SWAP_TILE)
        if (at.i != at.j) {
            GIVE_TILE(upper, ld, cols_left, rows_left, below, SWAP_TILE, SWAP_TILE)
        }
        ISO_BARRIER();
    }
}

#endif

/* ---- naive: one element per work-item -------------------------------------------------------- */

/* A group handles NAIVE_COLS columns and NAIVE_ROWS rows at a time. */
#if defined(NAIVE_COLS)

#define NAIVE_ROWS (ISO_THREADS / NAIVE_COLS)

ISO_KERNEL(ISO_THREADS)
transpose_naive(ISO_GLOBAL const cell *from, iso_i64 from_offset, ISO_GLOBAL cell *to,
                iso_i64 to_offset, iso_i64 rows, iso_i64 cols, iso_i64 ld_from, iso_i64 ld_to,
                iso_i64 down, iso_i64 across)
{
    iso_i64 tile;
    for (tile = ISO_GROUP_ID(); tile < down * across; tile += ISO_GROUP_COUNT()) {
        const iso_i64 row = tile / across * NAIVE_ROWS + ISO_LOCAL_ID() / NAIVE_COLS;
        const iso_i64 col = tile % across * NAIVE_COLS + ISO_LOCAL_ID() % NAIVE_COLS;
        if (row < rows && col < cols) {
            to[to_offset + col * ld_to + row] = from[from_offset + row * ld_from + col];
        }
    }
}

ISO_KERNEL(ISO_THREADS)
transpose_naive_swap(ISO_GLOBAL cell *matrix, iso_i64 offset, iso_i64 side, iso_i64 ld,
                     iso_i64 down, iso_i64 across)
{
    iso_i64 tile;
    for (tile = ISO_GROUP_ID(); tile < down * across; tile += ISO_GROUP_COUNT()) {
        const iso_i64 row = tile / across * NAIVE_ROWS + ISO_LOCAL_ID() / NAIVE_COLS;
        const iso_i64 col = tile % across * NAIVE_COLS + ISO_LOCAL_ID() % NAIVE_COLS;
        if (row < col && col < side) {
            const cell kept = matrix[offset + row * ld + col];
            matrix[offset + row * ld + col] = matrix[offset + col * ld + row];
            matrix[offset + col * ld + row] = kept;
        }
    }
}

#endif
