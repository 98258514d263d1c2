/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map_words.cl - one operation on each element of arrays; z may be x, y or w.
 *
 *   MAP_WORD     elements of one access of the tiled kernels: 1, or those of 16 aligned bytes
 *   MAP_RUN      accesses of a work-item to each array that are in flight at once
 *   MAP_CHAIN    in map_chain: accesses whose elements a work-item keeps in registers
 *   MAP_STEPS    in map_chain: steps between two checks of how many are left
 *   MAP_LOOPED   defined if a group runs as a loop: neighbouring elements that each work-item loops
 *                over; the compiler vectorises that loop
 *   MAP_NAIVE    defined if this program contains the naive kernels
 *
 * Without MAP_LOOPED a group handles blocks of neighbouring words. A work-item reads its whole part
 * of a block before it writes any of it, and no other work-item reads that part, so z may be x, y
 * or w. The last, shorter block is handled word by word, and its last word element by element, so
 * nothing beyond n is accessed.
 */
/* GROUP_WORDS is how many elements a group accesses at once. The loops are over a group's blocks
 * and over a work-item's elements. */
#define GROUP_WORDS         ((iso_i64)ISO_THREADS * MAP_WORD)
#define FOR_BLOCKS(b, most) for (b = ISO_GROUP_ID(); b <= (most); b += ISO_GROUP_COUNT())
#define FOR_ELEMENTS(i, n)                                                                         \
    for (i = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); i < n;                                 \
         i += ISO_GROUP_COUNT() * ISO_THREADS)

/* Copies move elements as unsigned integers of their size. */
#if ISO_DTYPE == ISO_I8
typedef iso_u8 cell;
#elif ISO_DTYPE == ISO_F16 || ISO_DTYPE == ISO_BF16
typedef iso_u16 cell;
#elif ISO_DTYPE == ISO_F32 || ISO_DTYPE == ISO_I32
typedef iso_u32 cell;
#else
typedef iso_u64 cell;
#endif

#if defined(MAP_LOOPED)

/* ---- a group is a loop ----------------------------------------------------------------------- */

#define FIRST(block, each) (((block) * ISO_THREADS + ISO_LOCAL_ID()) * (each))
#define END(first, each)   ((first) + (each) < n ? (first) + (each) : n)

ISO_INLINE void copy_tiled(ISO_GLOBAL const cell *x, ISO_GLOBAL cell *z, iso_i64 n)
{
    iso_i64 block, i;
    FOR_BLOCKS(block, (n - 1) / (ISO_THREADS * MAP_LOOPED))
    {
        const iso_i64 end = END(FIRST(block, MAP_LOOPED), MAP_LOOPED);
        for (i = FIRST(block, MAP_LOOPED); i < end; i++) {
            z[i] = x[i];
        }
    }
}

#if !COPIES
ISO_INLINE void map_tiled(int op, ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y,
                          ISO_GLOBAL const elem *w, ISO_GLOBAL elem *z, iso_i64 n, acc alpha,
                          acc beta)
{
    iso_i64 block, i;
    FOR_BLOCKS(block, (n - 1) / (ISO_THREADS * MAP_LOOPED))
    {
        const iso_i64 end = END(FIRST(block, MAP_LOOPED), MAP_LOOPED);
        for (i = FIRST(block, MAP_LOOPED); i < end; i++) {
            iso_store(z, i,
                      value_of(op, iso_load(x, i), READS_Y(op) ? iso_load(y, i) : (acc)0,
                               READS_W(op) ? iso_load(w, i) : (acc)0, alpha, beta));
        }
    }
}

/* Elements that do not fill the registers are done one by one. */
ISO_INLINE void chain_tiled(ISO_GLOBAL const elem *x, ISO_GLOBAL elem *z, iso_i64 n, acc alpha,
                            acc beta, iso_i64 steps)
{
    iso_i64 block, left, at;
    FOR_BLOCKS(block, (n - 1) / (ISO_THREADS * MAP_CHAIN))
    {
        const iso_i64 first = FIRST(block, MAP_CHAIN);
        acc v[MAP_CHAIN];
        int i;
        if (first + MAP_CHAIN <= n) {
            ISO_UNROLL
            for (i = 0; i < MAP_CHAIN; i++) {
                v[i] = iso_load(x, first + i);
            }
            for (left = steps; left > 0; left--) {
                ISO_UNROLL
                for (i = 0; i < MAP_CHAIN; i++) {
                    v[i] = acc_fma(v[i], alpha, beta);
                }
            }
            ISO_UNROLL
            for (i = 0; i < MAP_CHAIN; i++) {
                iso_store(z, first + i, v[i]);
            }
        } else {
            for (at = first; at < n; at++) {
                acc one = iso_load(x, at);
                for (left = steps; left > 0; left--) {
                    one = acc_fma(one, alpha, beta);
                }
                iso_store(z, at, one);
            }
        }
    }
}

#endif

#else

#if !COPIES

/* ---- words as elements ----------------------------------------------------------------------- */

#if MAP_WORD == 1

#define LOAD_WORD(v, p)  ((v)[0] = iso_load(p, 0))
#define STORE_WORD(p, v) iso_store(p, 0, (v)[0])

#else

#define LOAD_WORD(v, p)  load_word(v, (ISO_GLOBAL const whole_word *)(p))
#define STORE_WORD(p, v) (*(ISO_GLOBAL whole_word *)(p) = make_word(v))

#if ISO_DTYPE == ISO_F32
typedef ISO_F32X4 whole_word;
ISO_INLINE void load_word(acc *v, ISO_GLOBAL const whole_word *at)
{
    const whole_word w = *at;
    v[0] = w.x;
    v[1] = w.y;
    v[2] = w.z;
    v[3] = w.w;
}
ISO_INLINE whole_word make_word(const acc *v)
{
    return iso_f32x4(v[0], v[1], v[2], v[3]);
}
#elif ISO_DTYPE == ISO_F64
typedef ISO_F64X2 whole_word;
ISO_INLINE void load_word(acc *v, ISO_GLOBAL const whole_word *at)
{
    const whole_word w = *at;
    v[0] = w.x;
    v[1] = w.y;
}
ISO_INLINE whole_word make_word(const acc *v)
{
    return iso_f64x2(v[0], v[1]);
}
#else
typedef ISO_U32X4 whole_word;
#if ISO_DTYPE == ISO_I32
#define WORD_OPEN(v, i, u) ((v)[i] = (u))
#define WORD_MAKE(v, i)    ((v)[i])
#elif ISO_DTYPE == ISO_I64
#define WORD_OPEN(v, i, u) ((v)[(i) / 2] = (i) % 2 ? (v)[(i) / 2] | (acc)(u) << 32 : (acc)(u))
#define WORD_MAKE(v, i)    ((iso_u32)((v)[(i) / 2] >> (i) % 2 * 32))
#else
#if ISO_DTYPE == ISO_F16
/* Whole words are loaded, and their halves are converted in registers. OpenCL has functions that
 * convert vectors of halves in memory, but NVIDIA's compiler makes one access per half for them. */
#define TO_ACC(bits)    iso_f16_to_f32(bits)
#define FROM_ACC(value) iso_f32_to_f16(value)
#else
#define TO_ACC(bits)    iso_bf16_to_f32(bits)
#define FROM_ACC(value) iso_f32_to_bf16(value)
#endif
#define WORD_OPEN(v, i, u)                                                                         \
    ((v)[2 * (i)] = TO_ACC((iso_u16)(u)), (v)[2 * (i) + 1] = TO_ACC((iso_u16)((u) >> 16)))
#define WORD_MAKE(v, i) (FROM_ACC((v)[2 * (i)]) | (iso_u32)FROM_ACC((v)[2 * (i) + 1]) << 16)
#endif
ISO_INLINE void load_word(acc *v, ISO_GLOBAL const whole_word *at)
{
    const whole_word w = *at;
    WORD_OPEN(v, 0, w.x);
    WORD_OPEN(v, 1, w.y);
    WORD_OPEN(v, 2, w.z);
    WORD_OPEN(v, 3, w.w);
}
ISO_INLINE whole_word make_word(const acc *v)
{
    return iso_u32x4(WORD_MAKE(v, 0), WORD_MAKE(v, 1), WORD_MAKE(v, 2), WORD_MAKE(v, 3));
}
#endif

#endif

/* load_part loads the word at `at`, with 0 for elements beyond n. store_part does not write those.
 */
ISO_INLINE void load_part(acc *v, ISO_GLOBAL const elem *x, iso_i64 at, iso_i64 n)
{
    int i;
    if (at + MAP_WORD <= n) {
        LOAD_WORD(v, x + at);
    } else {
        ISO_UNROLL
        for (i = 0; i < MAP_WORD; i++) {
            v[i] = at + i < n ? iso_load(x, at + i) : (acc)0;
        }
    }
}

ISO_INLINE void store_part(ISO_GLOBAL elem *z, iso_i64 at, iso_i64 n, const acc *v)
{
    int i;
    if (at + MAP_WORD <= n) {
        STORE_WORD(z + at, v);
    } else {
        ISO_UNROLL
        for (i = 0; i < MAP_WORD; i++) {
            if (at + i < n) {
                iso_store(z, at + i, v[i]);
            }
        }
    }
}

#endif

/* ---- blocks of words ------------------------------------------------------------------------- */

#if MAP_WORD == 1
typedef cell bits;
#else
typedef ISO_U32X4 bits;
#endif

ISO_INLINE void copy_tiled(ISO_GLOBAL const cell *x, ISO_GLOBAL cell *z, iso_i64 n)
{
    const iso_i64 whole = n / (GROUP_WORDS * MAP_RUN);
    iso_i64 block;
    FOR_BLOCKS(block, whole)
    {
        const iso_i64 first = block * MAP_RUN * GROUP_WORDS + ISO_LOCAL_ID() * MAP_WORD;
        bits v[MAP_RUN];
        int r, i;
        if (block < whole) {
            ISO_UNROLL
            for (r = 0; r < MAP_RUN; r++) {
                v[r] = *(ISO_GLOBAL const bits *)(x + first + r * GROUP_WORDS);
            }
            ISO_UNROLL
            for (r = 0; r < MAP_RUN; r++) {
                *(ISO_GLOBAL bits *)(z + first + r * GROUP_WORDS) = v[r];
            }
        } else {
            for (r = 0; r < MAP_RUN; r++) {
                const iso_i64 at = first + r * GROUP_WORDS;
                if (at + MAP_WORD <= n) {
                    *(ISO_GLOBAL bits *)(z + at) = *(ISO_GLOBAL const bits *)(x + at);
                } else {
                    for (i = 0; at + i < n; i++) {
                        z[at + i] = x[at + i];
                    }
                }
            }
        }
    }
}

#if !COPIES
ISO_INLINE void map_tiled(int op, ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y,
                          ISO_GLOBAL const elem *w, ISO_GLOBAL elem *z, iso_i64 n, acc alpha,
                          acc beta)
{
    const iso_i64 whole = n / (GROUP_WORDS * MAP_RUN);
    iso_i64 block;
    FOR_BLOCKS(block, whole)
    {
        const iso_i64 first = block * MAP_RUN * GROUP_WORDS + ISO_LOCAL_ID() * MAP_WORD;
        acc vx[MAP_RUN * MAP_WORD], vy[MAP_RUN * MAP_WORD], vw[MAP_RUN * MAP_WORD];
        int r, i;
        if (block < whole) {
            ISO_UNROLL
            for (r = 0; r < MAP_RUN; r++) {
                LOAD_WORD(vx + r * MAP_WORD, x + first + r * GROUP_WORDS);
                if (READS_Y(op)) {
                    LOAD_WORD(vy + r * MAP_WORD, y + first + r * GROUP_WORDS);
                }
                if (READS_W(op)) {
                    LOAD_WORD(vw + r * MAP_WORD, w + first + r * GROUP_WORDS);
                }
            }
            ISO_UNROLL
            for (i = 0; i < MAP_RUN * MAP_WORD; i++) {
                vx[i] = value_of(op, vx[i], READS_Y(op) ? vy[i] : (acc)0,
                                 READS_W(op) ? vw[i] : (acc)0, alpha, beta);
            }
            ISO_UNROLL
            for (r = 0; r < MAP_RUN; r++) {
                STORE_WORD(z + first + r * GROUP_WORDS, vx + r * MAP_WORD);
            }
        } else {
            for (r = 0; r < MAP_RUN; r++) {
                const iso_i64 at = first + r * GROUP_WORDS;
                load_part(vx, x, at, n);
                if (READS_Y(op)) {
                    load_part(vy, y, at, n);
                }
                if (READS_W(op)) {
                    load_part(vw, w, at, n);
                }
                ISO_UNROLL
                for (i = 0; i < MAP_WORD; i++) {
                    vx[i] = value_of(op, vx[i], READS_Y(op) ? vy[i] : (acc)0,
                                     READS_W(op) ? vw[i] : (acc)0, alpha, beta);
                }
                store_part(z, at, n, vx);
            }
        }
    }
}

/* The chains of one work-item are independent of each other. The innermost counter has 32 bits,
 * because counting in 64 bits was measured to cost a few percent. */
#define PART 65535
ISO_INLINE void chain_tiled(ISO_GLOBAL const elem *x, ISO_GLOBAL elem *z, iso_i64 n, acc alpha,
                            acc beta, iso_i64 steps)
{
    iso_i64 block, left;
    FOR_BLOCKS(block, (n - 1) / (GROUP_WORDS * MAP_CHAIN))
    {
        const iso_i64 first = block * MAP_CHAIN * GROUP_WORDS + ISO_LOCAL_ID() * MAP_WORD;
        acc v[MAP_CHAIN * MAP_WORD];
        int r, i, part;
        ISO_UNROLL
        for (r = 0; r < MAP_CHAIN; r++) {
            load_part(v + r * MAP_WORD, x, first + r * GROUP_WORDS, n);
        }
        for (left = steps; left > 0; left -= part) {
            int count = part = left < PART ? (int)left : PART;
            for (; count >= MAP_STEPS; count -= MAP_STEPS) {
                ISO_UNROLL
                for (r = 0; r < MAP_STEPS; r++) {
                    ISO_UNROLL
                    for (i = 0; i < MAP_CHAIN * MAP_WORD; i++) {
                        v[i] = acc_fma(v[i], alpha, beta);
                    }
                }
            }
            for (; count > 0; count--) {
                ISO_UNROLL
                for (i = 0; i < MAP_CHAIN * MAP_WORD; i++) {
                    v[i] = acc_fma(v[i], alpha, beta);
                }
            }
        }
        ISO_UNROLL
        for (r = 0; r < MAP_CHAIN; r++) {
            store_part(z, first + r * GROUP_WORDS, n, v + r * MAP_WORD);
        }
    }
}

#endif

#endif

#if defined(MAP_NAIVE) && !COPIES
ISO_INLINE void map_naive(int op, ISO_GLOBAL const elem *x, ISO_GLOBAL const elem *y,
                          ISO_GLOBAL const elem *w, ISO_GLOBAL elem *z, iso_i64 n, acc alpha,
                          acc beta)
{
    iso_i64 i;
    FOR_ELEMENTS(i, n)
    {
        iso_store(z, i,
                  value_of(op, iso_load(x, i), READS_Y(op) ? iso_load(y, i) : (acc)0,
                           READS_W(op) ? iso_load(w, i) : (acc)0, alpha, beta));
    }
}
#endif
