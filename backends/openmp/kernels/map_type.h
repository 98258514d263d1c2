/* SPDX-License-Identifier: Apache-2.0 */
/* map_type.h - the code of map.c for one type. Included once for each type, with these defined:
 * TYPE (its name), ELEMENT (the stored type), KIND and REAL (the type of the computation), LOAD,
 * STORE, READ, WRITE and, for floating-point types, FMA. */

#define NAME(x) CPU_JOIN(x, TYPE)
#define VECTOR  CPU_JOIN(simd, KIND)
#define LANES   ((int)(sizeof(VECTOR) / sizeof(REAL)))
#define LINE    (64 / (int)sizeof(ELEMENT)) /* elements */
#define APPLY   CPU_JOIN(CPU_JOIN(vector, KIND), apply)
#define ONE     CPU_JOIN(CPU_JOIN(number, KIND), apply)
#if defined(FMA)
#define FMA_V     CPU_JOIN(VECTOR, fma)
#define SET(x)    CPU_JOIN(VECTOR, set)((REAL)(x))
#define FACTOR(x) ((REAL)(x))
#else /* integers have no factors */
#define SET(x)    ((VECTOR){0})
#define FACTOR(x) 0
#endif

/* Computes one cache line of z. */
SIMD_INLINE void NAME(line)(enum what what, const ELEMENT *x, const ELEMENT *y, const ELEMENT *w,
                            ELEMENT *z, VECTOR alpha, VECTOR beta, int stream)
{
    SIMD_UNROLL
    for (int i = 0; i < LINE; i += LANES) {
        const VECTOR a = LOAD(x + i), b = READS_Y(what) ? LOAD(y + i) : a;
        const VECTOR v = APPLY(what, a, b, READS_W(what) ? LOAD(w + i) : a, alpha, beta);
        if (stream) {
            ELEMENT out[LANES];
            STORE(out, v);
            simd_stream(z + i, out, sizeof out);
        } else {
            STORE(z + i, v);
        }
    }
}

/* Computes less than a line. Not inlined: one copy serves all operations. */
static __attribute__((noinline)) void NAME(edge)(enum what what, const ELEMENT *x, const ELEMENT *y,
                                                 const ELEMENT *w, ELEMENT *z, VECTOR alpha,
                                                 VECTOR beta, int64_t n)
{
    ELEMENT in_x[LINE] = {0}, in_y[LINE] = {0}, in_w[LINE] = {0}, out[LINE];
    memcpy(in_x, x, (size_t)n * sizeof *x);
    memcpy(in_y, y, (size_t)n * sizeof *y);
    memcpy(in_w, w, (size_t)n * sizeof *w);
    NAME(line)(what, in_x, in_y, in_w, out, alpha, beta, 0);
    memcpy(z, out, (size_t)n * sizeof *z);
}

SIMD_INLINE void NAME(tiled)(enum what what, const cpu_map_part *p)
{
    const ELEMENT *x = p->x, *y = READS_Y(what) ? p->y : p->x, *w = READS_W(what) ? p->w : p->x;
    ELEMENT *z = p->z;
    const VECTOR alpha = SET(p->alpha), beta = SET(p->beta);
    const int64_t before = (int64_t)(-(uintptr_t)z % 64 / sizeof *z);
    int64_t i = before < p->n ? before : p->n;
    if (i > 0) {
        NAME(edge)(what, x, y, w, z, alpha, beta, i);
    }
    if (p->stream) {
        for (; i + LINE <= p->n; i += LINE) {
            NAME(line)(what, x + i, y + i, w + i, z + i, alpha, beta, 1);
        }
        simd_stream_end();
    }
    for (; i + LINE <= p->n; i += LINE) {
        NAME(line)(what, x + i, y + i, w + i, z + i, alpha, beta, 0);
    }
    if (i < p->n) {
        NAME(edge)(what, x + i, y + i, w + i, z + i, alpha, beta, p->n - i);
    }
}

enum { NAME(FEW) = 4 }; /* elements for which setting up vectors takes longer than they save */

#define DEFINE_WHAT(name, what)                                                                    \
    static void NAME(CPU_JOIN(naive, name))(const cpu_map_part *p)                                 \
    {                                                                                              \
        const ELEMENT *x = p->x, *y = READS_Y(what) ? p->y : x, *w = READS_W(what) ? p->w : x;     \
        ELEMENT *z = p->z;                                                                         \
        const REAL alpha = FACTOR(p->alpha), beta = FACTOR(p->beta);                               \
        const int64_t n = p->n; /* local: to the compiler, z may alias p->n */                     \
        for (int64_t i = 0; i < n; i++) {                                                          \
            z[i] = WRITE(ONE(what, READ(x[i]), READ(y[i]), READ(w[i]), alpha, beta));              \
        }                                                                                          \
    }                                                                                              \
    static void NAME(CPU_JOIN(tiled, name))(const cpu_map_part *p)                                 \
    {                                                                                              \
        if (p->n <= NAME(FEW)) {                                                                   \
            NAME(CPU_JOIN(naive, name))(p);                                                        \
        } else {                                                                                   \
            NAME(tiled)(what, p);                                                                  \
        }                                                                                          \
    }

DEFINE_WHAT(add, ADD)
DEFINE_WHAT(multiply, MULTIPLY)
DEFINE_WHAT(subtract, SUBTRACT)
DEFINE_WHAT(min, LEAST)
DEFINE_WHAT(max, MOST)
DEFINE_WHAT(abs, MAGNITUDE)
DEFINE_WHAT(negate, OPPOSITE)

#if defined(FMA)
DEFINE_WHAT(scale, SCALE)
DEFINE_WHAT(triad, TRIAD)
DEFINE_WHAT(divide, DIVIDE)
DEFINE_WHAT(axpby, AXPBY)
DEFINE_WHAT(fma, FMA_OF)
DEFINE_WHAT(relu, RELU)
DEFINE_WHAT(exp, EXP)
DEFINE_WHAT(tanh, TANH)

/* Each step of a chain waits for the step before it. Therefore this computes several vectors at a
 * time: while some wait, the processor works on others. */
static void NAME(tiled_chain)(const cpu_map_part *p)
{
    enum { BLOCK = CHAIN_VECTORS * LANES };
    const ELEMENT *x = p->x;
    ELEMENT *z = p->z, part[BLOCK];
    const VECTOR alpha = SET(p->alpha), beta = SET(p->beta);
    for (int64_t i = 0; i < p->n; i += BLOCK) {
        const int64_t count = p->n - i < BLOCK ? p->n - i : BLOCK;
        const ELEMENT *from = x + i;
        VECTOR r[CHAIN_VECTORS];
        if (count < BLOCK) {
            memset(part, 0, sizeof part);
            memcpy(part, from, (size_t)count * sizeof *part);
            from = part;
        }
        SIMD_UNROLL
        for (int v = 0; v < CHAIN_VECTORS; v++) {
            r[v] = LOAD(from + v * LANES);
        }
        for (int64_t s = 0; s < p->steps; s++) {
            SIMD_UNROLL
            for (int v = 0; v < CHAIN_VECTORS; v++) {
                r[v] = FMA_V(r[v], alpha, beta);
            }
        }
        ELEMENT *to = count < BLOCK ? part : z + i;
        SIMD_UNROLL
        for (int v = 0; v < CHAIN_VECTORS; v++) {
            STORE(to + v * LANES, r[v]);
        }
        if (count < BLOCK) {
            memcpy(z + i, part, (size_t)count * sizeof *part);
        }
    }
}

static void NAME(naive_chain)(const cpu_map_part *p)
{
    const ELEMENT *x = p->x;
    ELEMENT *z = p->z;
    const REAL alpha = (REAL)p->alpha, beta = (REAL)p->beta;
    for (int64_t i = 0; i < p->n; i++) {
        REAL r = READ(x[i]);
        for (int64_t s = 0; s < p->steps; s++) {
            r = FMA(r, alpha, beta);
        }
        z[i] = WRITE(r);
    }
}
#endif

#undef NAME
#undef LINE
#undef APPLY
#undef ONE
#undef DEFINE_WHAT
#undef FACTOR
#undef TYPE
#undef KIND
#undef ELEMENT
#undef VECTOR
#undef LANES
#undef REAL
#undef LOAD
#undef STORE
#undef SET
#undef READ
#undef WRITE
#undef FMA_V
#undef FMA
