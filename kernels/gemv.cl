/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemv.cl - the tiled y = alpha op(A) x + beta y. A chain is one row of op(A) over one segment of
 * k. If there are several segments, their sums go to `work` ([segment][member][row]), and gemv_join
 * adds them in order: docs/bits.md.
 *
 * A group copies a tile of the stored A to shared memory; neighbouring work-items read neighbouring
 * words. Then work-items run the chains over this tile, while the group loads the next tile into
 * registers.
 *
 *   GEMV_ALONG    1: A is stored m x k, and its rows are contiguous along k; 0: stored k x m
 *   GEMV_WORDS    words of a tile that a work-item copies
 *   GEMV_SIDE     defined if a group runs as a loop, which uses no tiles: chains that a work-item
 *                 runs side by side
 *
 * A word is 16 bytes of a stored row. A cell is what one access of shared memory moves: two
 * elements of 16 bits, or one element. A tile has TILE_WORDS >> shift rows of 1 << shift words.
 */
#if ISO_DTYPE == ISO_F64
typedef ISO_F64X2 word;
typedef double cell;
#define PART_SHIFT 1 /* a word has 2^1 cells */
#define EACH       1 /* elements of a cell */
#define PAD_SHIFT  4 /* a cell of padding after each 2^4 keeps work-items in different banks */
#elif ISO_DTYPE == ISO_F32
typedef ISO_F32X4 word;
typedef float cell;
#define PART_SHIFT 2
#define EACH       1
#define PAD_SHIFT  5
#else
typedef ISO_U32X4 word;
typedef iso_u32 cell;
#define PART_SHIFT 2
#define EACH       2
#define PAD_SHIFT  5
#endif
#define PARTS (1 << PART_SHIFT)
#define WORD  (PARTS * EACH) /* elements of a word */

#if defined(GEMV_SIDE)
#define MINE GEMV_SIDE /* chains of a work-item */
#elif GEMV_ALONG
#define MINE 1
#else
#define MINE EACH
#endif

/* Loads the cell at `at`. Only its first `left` elements exist; the others become 0. */
ISO_INLINE cell load_cell(ISO_GLOBAL const elem *a, iso_i64 at, iso_i64 left)
{
#if EACH == 2
    const iso_u32 low = left > 0 ? a[at] : 0;
    const iso_u32 high = left > 1 ? a[at + 1] : 0;
    return low | high << 16;
#else
    return left > 0 ? a[at] : (cell)0;
#endif
}

/* The place of op(A)'s element (row, p). */
#if GEMV_ALONG
#define AT(row, p) ((row) * lda + (p))
#else
#define AT(row, p) ((row) + (p) * lda)
#endif

#if defined(GEMV_SIDE)

#define HEIGHT (ISO_THREADS * MINE) /* rows of op(A) that a group computes */

ISO_INLINE void run_chains(ISO_GLOBAL const elem *a, iso_i64 at, iso_i64 lda,
                           ISO_SHARED_AT const acc *xs, int count, int mine, acc *sum)
{
    for (int p = 0; p < count; p++) {
        const acc x = xs[p];
        if (mine >= MINE) {
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                sum[i] = acc_fma(iso_load(a, at + AT((iso_i64)i, p)), x, sum[i]);
            }
        } else {
            for (int i = 0; i < mine; i++) {
                sum[i] = acc_fma(iso_load(a, at + AT((iso_i64)i, p)), x, sum[i]);
            }
        }
    }
}

#else

#define TILE_WORDS (ISO_THREADS * GEMV_WORDS)
#define TILE_CELLS (TILE_WORDS * PARTS)
#define MOVES      (GEMV_WORDS * PARTS) /* cells that a work-item copies */
#define PADDED(c)  ((c) + ((c) >> PAD_SHIFT))
/* Cells from one row of the tile to the next. Odd if each work-item reads along its own row, so
 * that work-items use different banks. */
#define PITCH      (PADDED(PARTS << shift) | GEMV_ALONG)

/* HEIGHT is the number of rows of op(A) in a tile, TILE_LENGTH its length along k, and ACTIVE how
 * many work-items have chains in it. STORED_ROWS and STORED_COLS convert numbers of rows of op(A)
 * and of k's into numbers of rows and columns of the stored A. */
#if GEMV_ALONG
#define HEIGHT               (TILE_WORDS >> shift)
#define TILE_LENGTH          (WORD << shift)
#define ACTIVE               HEIGHT
#define STORED_ROWS(rows, n) (rows)
#define STORED_COLS(rows, n) (n)
#else
#define HEIGHT               (WORD << shift)
#define TILE_LENGTH          (TILE_WORDS >> shift)
#define ACTIVE               (PARTS << shift)
#define STORED_ROWS(rows, n) (n)
#define STORED_COLS(rows, n) (rows)
#endif

ISO_INLINE void split(word w, cell *to)
{
    to[0] = w.x;
    to[1] = w.y;
#if PARTS == 4
    to[2] = w.z;
    to[3] = w.w;
#endif
}

/* Loads this work-item's cells of the tile at `at`. Only `rows` rows of `cols` elements exist.
 * `wide`: loads whole words, else single cells. */
ISO_INLINE void load_tile(ISO_GLOBAL const elem *a, iso_i64 at, iso_i64 lda, iso_i64 rows,
                          iso_i64 cols, int shift, int wide, cell *next)
{
    const int id = ISO_LOCAL_ID();
    const int full = rows >= TILE_WORDS >> shift && cols >= WORD << shift;
    if (wide && full) {
        ISO_UNROLL
        for (int i = 0; i < GEMV_WORDS; i++) {
            const int w = id + i * ISO_THREADS;
            const iso_i64 from = at + (w >> shift) * lda + (w & ((1 << shift) - 1)) * WORD;
            split(*(ISO_GLOBAL const word *)(a + from), next + i * PARTS);
        }
    } else if (wide) {
        ISO_UNROLL
        for (int i = 0; i < GEMV_WORDS; i++) {
            const int w = id + i * ISO_THREADS;
            const int col = (w & ((1 << shift) - 1)) * WORD;
            const iso_i64 left = (w >> shift) < rows ? cols - col : 0;
            const iso_i64 from = at + (w >> shift) * lda + col;
            if (left >= WORD) {
                split(*(ISO_GLOBAL const word *)(a + from), next + i * PARTS);
            } else {
                ISO_UNROLL
                for (int j = 0; j < PARTS; j++) {
                    next[i * PARTS + j] = load_cell(a, from + j * EACH, left - j * EACH);
                }
            }
        }
    } else {
        const int across = shift + PART_SHIFT;
        ISO_UNROLL
        for (int i = 0; i < MOVES; i++) {
            const int c = id + i * ISO_THREADS;
            const int col = (c & ((1 << across) - 1)) * EACH;
            const iso_i64 left = (c >> across) < rows ? cols - col : 0;
            next[i] = load_cell(a, at + (c >> across) * lda + col, left);
        }
    }
}

ISO_INLINE void store_tile(ISO_SHARED_AT cell *tile, int shift, int wide, const cell *next)
{
    const int id = ISO_LOCAL_ID();
    const int across = shift + PART_SHIFT;
    if (wide) {
        ISO_UNROLL
        for (int i = 0; i < MOVES; i++) {
            const int c = (id + i / PARTS * ISO_THREADS) * PARTS;
            const int col = c & ((1 << across) - 1);
            tile[(c >> across) * PITCH + PADDED(col) + i % PARTS] = next[i];
        }
    } else {
        ISO_UNROLL
        for (int i = 0; i < MOVES; i++) {
            const int c = id + i * ISO_THREADS;
            const int col = c & ((1 << across) - 1);
            tile[(c >> across) * PITCH + PADDED(col)] = next[i];
        }
    }
}

/* A work-item runs one chain along a row of cells, or EACH chains down a column. STEPS is the
 * number of k's of a cell, PLACE the place of a work-item's cell `c`, NEXT the distance to its next
 * cell. */
#if GEMV_ALONG
#define STEPS    EACH
#define PLACE(c) (ISO_LOCAL_ID() * PITCH + PADDED(c))
#define NEXT     1
#else
#define STEPS    1
#define PLACE(c) ((c) * PITCH + PADDED(ISO_LOCAL_ID()))
#define NEXT     PITCH
#endif
#define RUN 8 /* cells that are read together; in a row, a run contains no padding */

ISO_INLINE void load_run(ISO_SHARED_AT const cell *tile, ISO_SHARED_AT const acc *x, int c,
                         int shift, cell *run, acc *factors)
{
    const int place = PLACE(c);
    ISO_UNROLL
    for (int i = 0; i < RUN; i++) {
        run[i] = tile[place + i * NEXT];
    }
    ISO_UNROLL
    for (int i = 0; i < RUN * STEPS; i++) {
        factors[i] = x[c * STEPS + i];
    }
}

/* Continues the chains over one cell. */
ISO_INLINE void add_cell(cell c, const acc *x, acc *sum)
{
#if EACH == 2
    sum[0] = acc_fma(FROM_BITS(c & 0xffffu), x[0], sum[0]);
    sum[MINE - 1] = acc_fma(FROM_BITS(c >> 16), x[STEPS - 1], sum[MINE - 1]);
#else
    sum[0] = acc_fma(c, x[0], sum[0]);
#endif
}

ISO_INLINE void add_run(const cell *run, const acc *factors, acc *sum)
{
    ISO_UNROLL
    for (int i = 0; i < RUN; i++) {
        add_cell(run[i], factors + i * STEPS, sum);
    }
}

/* Continues the chains over `count` k's of the tile. Each run is read before the previous one is
 * used. */
ISO_INLINE void add_tile(ISO_SHARED_AT const cell *tile, ISO_SHARED_AT const acc *x, int count,
                         int shift, acc *sum)
{
    const int cells = count / STEPS, runs = cells / RUN;
    cell now[RUN], later[RUN];
    acc x_now[RUN * STEPS], x_later[RUN * STEPS];
    if (runs > 0) {
        load_run(tile, x, 0, shift, now, x_now);
    }
    for (int r = 0; r < runs; r += 2) {
        load_run(tile, x, r + 1 < runs ? (r + 1) * RUN : 0, shift, later, x_later);
        add_run(now, x_now, sum);
        if (r + 1 < runs) {
            load_run(tile, x, r + 2 < runs ? (r + 2) * RUN : 0, shift, now, x_now);
            add_run(later, x_later, sum);
        }
    }
    for (int c = runs * RUN; c < cells; c++) {
        x_now[0] = x[c * STEPS];
        x_now[STEPS - 1] = x[c * STEPS + STEPS - 1];
        add_cell(tile[PLACE(c)], x_now, sum);
    }
#if GEMV_ALONG && EACH == 2
    if (count & 1) {
        sum[0] = acc_fma(FROM_BITS(tile[PLACE(cells)] & 0xffffu), x[count - 1], sum[0]);
    }
#endif
}

#endif

/* The barriers are in the kernel itself, because PoCL gave wrong results for a loop with barriers
 * in another function. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemv_tiled(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
           ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 inc_x, iso_i64 stride_x,
           ISO_GLOBAL elem *y, iso_i64 y_at, iso_i64 inc_y, iso_i64 stride_y, ISO_GLOBAL acc *work,
           iso_i64 work_at, iso_i64 m, iso_i64 k, iso_i64 batch, acc alpha, acc beta, iso_i32 shift,
           iso_i32 wide)
{
    ISO_SHARED acc xs[SEGMENT];
#if !defined(GEMV_SIDE)
    ISO_SHARED cell tile[PADDED(TILE_CELLS) + ISO_THREADS];
    const int length = TILE_LENGTH;
#endif
    ISO_NEXT_MAY_BEGIN();
    const iso_i64 segments = k > SEGMENT ? (k - 1) / SEGMENT + 1 : 1;
    const iso_i64 blocks = (m - 1) / HEIGHT + 1;
    for (iso_i64 group = ISO_GROUP_ID(); group < blocks * segments * batch;
         group += ISO_GROUP_COUNT()) {
        /* Groups that run side by side read one part of A: whole rows of the stored matrix. */
#if GEMV_ALONG
        const iso_i64 segment = group % segments;
        const iso_i64 block = group / segments % blocks;
#else
        const iso_i64 segment = group / blocks % segments;
        const iso_i64 block = group % blocks;
#endif
        const iso_i64 member = group / blocks / segments;
        const iso_i64 from = segment * SEGMENT;
        const int count = (int)(k - from > SEGMENT ? SEGMENT : k - from);
        const iso_i64 first = block * HEIGHT;
        const iso_i64 rows = m - first < HEIGHT ? m - first : HEIGHT;
        /* Rows from this work-item's first to the end: may be negative, or more than MINE. */
        const int mine = (int)rows - ISO_LOCAL_ID() * MINE;
        const iso_i64 row = first + ISO_LOCAL_ID() * MINE;
        acc sum[MINE];
        for (int i = 0; i < MINE; i++) {
            sum[i] = (acc)0;
        }
        stage_x(xs, x, x_at + member * stride_x + from * inc_x, inc_x, count);
#if defined(GEMV_SIDE)
        ISO_BARRIER();
        run_chains(a, a_at + member * stride_a + AT(row, from), lda, xs, count, mine, sum);
        ISO_BARRIER();
#else
        const iso_i64 at = a_at + member * stride_a + AT(first, from);
        cell next[MOVES];
        load_tile(a, at, lda, STORED_ROWS(rows, count), STORED_COLS(rows, count), shift, wide,
                  next);
        for (int p = 0; p < count; p += length) {
            const int left = count - p - length;
            store_tile(tile, shift, wide, next);
            ISO_BARRIER();
            if (left > 0) {
                load_tile(a, at + AT(0, (iso_i64)(p + length)), lda, STORED_ROWS(rows, left),
                          STORED_COLS(rows, left), shift, wide, next);
            }
            if (ISO_LOCAL_ID() < ACTIVE) {
                add_tile(tile, xs + p, left < 0 ? count - p : length, shift, sum);
            }
            ISO_BARRIER();
        }
#endif
        ISO_UNROLL
        for (int i = 0; i < MINE; i++) {
            if (i < mine && segments == 1) {
                iso_finish(y, y_at + member * stride_y + (row + i) * inc_y, sum[i], alpha, beta);
            } else if (i < mine) {
                work[work_at + (segment * batch + member) * m + row + i] = sum[i];
            }
        }
    }
}

#if !GEMV_ALONG && !defined(GEMV_SIDE)

#define AHEAD 8 /* words that are read before the first is used */

/* Loads a word of a stored row. Only its first `left` elements exist. */
ISO_INLINE void load_word(ISO_GLOBAL const elem *a, iso_i64 at, iso_i64 left, int wide, cell *to)
{
    if (wide && left >= WORD) {
        split(*(ISO_GLOBAL const word *)(a + at), to);
    } else {
        ISO_UNROLL
        for (int j = 0; j < PARTS; j++) {
            to[j] = load_cell(a, at + j * EACH, left - j * EACH);
        }
    }
}

ISO_INLINE void add_word(const cell *c, acc x, acc *sum)
{
    ISO_UNROLL
    for (int j = 0; j < PARTS; j++) {
#if EACH == 2
        sum[2 * j] = acc_fma(FROM_BITS(c[j] & 0xffffu), x, sum[2 * j]);
        sum[2 * j + 1] = acc_fma(FROM_BITS(c[j] >> 16), x, sum[2 * j + 1]);
#else
        sum[j] = acc_fma(c[j], x, sum[j]);
#endif
    }
}

/* The same for large products with a stored A of k x m: a work-item runs the chains of a word down
 * a segment, and needs no tile, because its neighbours read the words beside it. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemv_direct(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
            ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 inc_x, iso_i64 stride_x,
            ISO_GLOBAL elem *y, iso_i64 y_at, iso_i64 inc_y, iso_i64 stride_y, ISO_GLOBAL acc *work,
            iso_i64 work_at, iso_i64 m, iso_i64 k, iso_i64 batch, acc alpha, acc beta,
            iso_i32 shift, iso_i32 wide)
{
    const iso_i64 segments = k > SEGMENT ? (k - 1) / SEGMENT + 1 : 1;
    const iso_i64 words = (m - 1) / WORD + 1;
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 item = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID();
         item < words * segments * batch; item += step) {
        const iso_i64 segment = item / words % segments;
        const iso_i64 member = item / words / segments;
        const iso_i64 row = item % words * WORD;
        const iso_i64 from = segment * SEGMENT;
        const int count = (int)(k - from > SEGMENT ? SEGMENT : k - from);
        iso_i64 at = a_at + member * stride_a + AT(row, from);
        iso_i64 at_x = x_at + member * stride_x + from * inc_x;
        acc sum[WORD];
        int p = 0;
        for (int i = 0; i < WORD; i++) {
            sum[i] = (acc)0;
        }
        for (; p + AHEAD <= count; p += AHEAD) {
            cell next[AHEAD * PARTS];
            acc factor[AHEAD];
            ISO_UNROLL
            for (int i = 0; i < AHEAD; i++) {
                load_word(a, at + i * lda, m - row, wide, next + i * PARTS);
                factor[i] = iso_load(x, at_x + i * inc_x);
            }
            ISO_UNROLL
            for (int i = 0; i < AHEAD; i++) {
                add_word(next + i * PARTS, factor[i], sum);
            }
            at += AHEAD * lda;
            at_x += AHEAD * inc_x;
        }
        for (; p < count; p++) {
            cell next[PARTS];
            load_word(a, at, m - row, wide, next);
            add_word(next, iso_load(x, at_x), sum);
            at += lda;
            at_x += inc_x;
        }
        ISO_UNROLL
        for (int i = 0; i < WORD; i++) {
            if (row + i < m && segments == 1) {
                iso_finish(y, y_at + member * stride_y + (row + i) * inc_y, sum[i], alpha, beta);
            } else if (row + i < m) {
                work[work_at + (segment * batch + member) * m + row + i] = sum[i];
            }
        }
    }
}

#endif
