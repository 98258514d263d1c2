/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce_lanes.h - the code of reduce.c for one type of lanes. Included once for each type, with
 * LANE (the scalar type) and LANE_NAME defined. These must be declared before, with the value of
 * LANE_NAME for NAME: the vector type v_NAME, and
 *
 *     v_NAME load_NAME(element, pointer)        loads one vector of elements and converts them
 *     v_NAME step_NAME(step, acc, x, y, rare)   computes one step; `rare` collects what SQUARES
 *                                               leaves out. Integers need no step_NAME, but
 *                                               LANE_SIGNED: the vector type of signed integers
 *
 * `step` and `element` are constants wherever these functions are inlined.
 */

#define NAME(x) CPU_JOIN(x, LANE_NAME)
#define VEC     NAME(v)
#define WIDTH   ((int)(sizeof(VEC) / sizeof(LANE)))

SIMD_INLINE VEC NAME(neutral)(int step)
{
    return (VEC){0} + (LANE)(step == CPU_STEP_PRODUCT);
}

#if defined(LANE_SIGNED)
SIMD_INLINE VEC NAME(step)(int step, VEC acc, VEC x, VEC y, rare_bits *rare)
{
    (void)rare;
    const VEC sign = (VEC)((LANE_SIGNED)x >> (8 * (int)sizeof(LANE) - 1));
    switch (step) {
    case CPU_STEP_PRODUCT:
        return acc * x;
    case CPU_STEP_DOT:
        return acc + x * y;
    case CPU_STEP_ASUM:
        return acc + ((x ^ sign) - sign);
    case CPU_STEP_XOR:
        return acc ^ x;
    default:
        return acc + x;
    }
}
#endif

SIMD_INLINE VEC NAME(fold)(int step, VEC a, VEC b)
{
#if defined(LANE_SIGNED)
    if (step == CPU_STEP_XOR) {
        return a ^ b;
    }
#endif
    return step == CPU_STEP_PRODUCT ? a * b : a + b;
}

/* Folds the lanes of n elements to one value. A lane without elements holds the neutral value.
 * Folding it in changes nothing, so a fold of such lanes alone is skipped. There is one exception:
 * in a dot product, adding +0 turns a -0 (a product that underflowed) into +0. So a dot product
 * always makes the first fold. After that, no lane with -0 meets one without elements. */
SIMD_INLINE LANE NAME(fold_lanes)(int step, LANE *lanes, int n)
{
    for (int half = CPU_REDUCE_LANES / 2; half >= WIDTH; half /= 2) {
        const int needed = half < n || (step == CPU_STEP_DOT && half == CPU_REDUCE_LANES / 2);
        for (int l = 0; needed && l < half; l += WIDTH) {
            VEC a, b;
            memcpy(&a, lanes + l, sizeof a);
            memcpy(&b, lanes + l + half, sizeof b);
            a = NAME(fold)(step, a, b);
            memcpy(lanes + l, &a, sizeof a);
        }
    }
    SIMD_UNROLL
    for (int half = WIDTH / 2; half >= 1; half /= 2) {
        SIMD_UNROLL
        for (int l = 0; l < half; l++) {
            lanes[l] = (LANE)(step == CPU_STEP_PRODUCT ? lanes[l] * lanes[l + half]
                                                       : lanes[l] + lanes[l + half]);
        }
    }
    return lanes[0];
}

/* Reduces one block of at most 4096 elements, which is read once from end to end. If there are more
 * lanes than registers, some lanes stay in the first-level cache. That is faster than a second pass
 * over the block. */
SIMD_INLINE LANE NAME(block)(int element, int step, const char *x, const char *y, int n,
                             uint64_t *rare)
{
    const int bytes = element_bytes(element);
    _Alignas(64) LANE lanes[CPU_REDUCE_LANES];
    rare_bits seen = {0};
    VEC acc[CPU_REDUCE_LANES / WIDTH];
    LANES_UNROLL
    for (int j = 0; j < CPU_REDUCE_LANES / WIDTH; j++) {
        acc[j] = NAME(neutral)(step);
    }
    for (int i = 0; i + CPU_REDUCE_LANES <= n; i += CPU_REDUCE_LANES) {
#if LANES_AHEAD
        for (int line = 0; line < CPU_REDUCE_LANES * bytes; line += 64) {
            __builtin_prefetch(x + (ptrdiff_t)i * bytes + LANES_AHEAD + line);
        }
#endif
        LANES_UNROLL
        for (int j = 0; j < CPU_REDUCE_LANES / WIDTH; j++) {
            const ptrdiff_t at = (ptrdiff_t)(i + j * WIDTH) * bytes;
            acc[j] = NAME(step)(step, acc[j], NAME(load)(element, x + at),
                                step == CPU_STEP_DOT ? NAME(load)(element, y + at) : acc[j], &seen);
        }
    }
    memcpy(lanes, acc, sizeof lanes);
    const int tail = n % CPU_REDUCE_LANES;
    if (tail != 0) {
        x += (ptrdiff_t)(n - tail) * bytes;
        if (step == CPU_STEP_DOT) {
            y += (ptrdiff_t)(n - tail) * bytes;
        }
        for (int l = 0; l < tail; l += WIDTH, x += WIDTH * bytes) {
            /* The last vector, if it is not full, is read from a copy. Lanes without an element
             * keep their value. */
            const int count = tail - l < WIDTH ? tail - l : WIDTH;
            _Alignas(64) char x_last[sizeof(VEC)] = {0}, y_last[sizeof(VEC)] = {0};
            const char *x_at = x, *y_at = y;
            if (count < WIDTH) {
                memcpy(x_last, x, (size_t)(count * bytes));
                x_at = x_last;
            }
            if (step == CPU_STEP_DOT) {
                if (count < WIDTH) {
                    memcpy(y_last, y, (size_t)(count * bytes));
                    y_at = y_last;
                }
                y += WIDTH * bytes;
            }
            const VEC old = acc[l / WIDTH];
            const VEC new =
                NAME(step)(step, old, NAME(load)(element, x_at),
                           step == CPU_STEP_DOT ? NAME(load)(element, y_at) : old, &seen);
            memcpy(lanes + l, &new, (size_t)count * sizeof(LANE));
        }
    }
    if (step == CPU_STEP_SQUARES) {
        *rare = rare_any(seen);
    }
    return NAME(fold_lanes)(step, lanes, n);
}

/* Reduces LINE_STREAMS blocks of 4096 elements side by side. Block s begins `apart` bytes after the
 * one before it, and its result is stored at out[s * out_apart]. */
SIMD_INLINE void NAME(blocks)(int element, int step, const char *x, ptrdiff_t apart, LANE *out,
                              ptrdiff_t out_apart)
{
    const int bytes = element_bytes(element);
    _Alignas(64) LANE lanes[LINE_STREAMS][CPU_REDUCE_LANES];
    rare_bits seen = {0};
    for (int s = 0; s < LINE_STREAMS; s++) {
        for (int l = 0; l < CPU_REDUCE_LANES; l += WIDTH) {
            const VEC neutral = NAME(neutral)(step);
            memcpy(&lanes[s][l], &neutral, sizeof neutral);
        }
    }
    for (int i = 0; i < CPU_REDUCE_BLOCK; i += CPU_REDUCE_LANES) {
        for (int s = 0; s < LINE_STREAMS; s++) {
            const char *at = x + s * apart + (ptrdiff_t)i * bytes;
            LANES_UNROLL
            for (int l = 0; l < CPU_REDUCE_LANES; l += WIDTH) {
                VEC acc;
                memcpy(&acc, &lanes[s][l], sizeof acc);
                acc = NAME(step)(step, acc, NAME(load)(element, at + l * bytes), acc, &seen);
                memcpy(&lanes[s][l], &acc, sizeof acc);
            }
        }
    }
    for (int s = 0; s < LINE_STREAMS; s++) {
        out[s * out_apart] = NAME(fold_lanes)(step, lanes[s], CPU_REDUCE_LANES);
    }
}

/* Reduces the whole blocks of a long line, or most of them: gives their number. A result never
 * overwrites elements that are not read yet, if `out` is `x`. */
SIMD_INLINE int64_t NAME(far_blocks)(int element, int step, const char *x, int64_t n, LANE *out)
{
    const int64_t block = (int64_t)CPU_REDUCE_BLOCK * element_bytes(element);
    const int64_t whole = n / CPU_REDUCE_BLOCK;
    int64_t done = 0;
    while (whole - done >= LINE_STREAMS) {
        const int64_t share = (whole - done) / LINE_STREAMS;
        const int64_t apart = share < LINE_APART ? share : LINE_APART;
        for (int64_t i = done; i < done + apart; i++) {
            NAME(blocks)(element, step, x + i * block, apart * block, out + i, apart);
        }
        done += apart * LINE_STREAMS;
    }
    return done;
}

SIMD_INLINE void NAME(line)(int element, int step, const void *x, const void *y, int64_t n,
                            LANE *out)
{
    const int bytes = element_bytes(element);
    uint64_t rare;
    int64_t i = 0;
    if (step != CPU_STEP_DOT && n >= LINE_FAR / bytes) { /* a dot has two operands to read */
        i = NAME(far_blocks)(element, step, x, n, out);
    }
    for (; i * CPU_REDUCE_BLOCK < n; i++) {
        const int64_t at = i * CPU_REDUCE_BLOCK, left = n - at;
        out[i] = NAME(block)(element, step, (const char *)x + at * bytes,
                             step == CPU_STEP_DOT ? (const char *)y + at * bytes : NULL,
                             (int)(left < CPU_REDUCE_BLOCK ? left : CPU_REDUCE_BLOCK), &rare);
    }
}

/* Runs one step with one row of a strip. `lanes` holds this row's lanes, one for each column. A
 * vector holds neighbouring columns. */
SIMD_INLINE void NAME(row)(int element, int step, int fresh, const char *x, const char *y, int cols,
                           LANE *lanes, rare_bits *seen)
{
    const int bytes = element_bytes(element);
    int j = 0;
    for (; j + WIDTH <= cols; j += WIDTH) {
        VEC acc = NAME(neutral)(step);
        if (!fresh) {
            memcpy(&acc, lanes + j, sizeof acc);
        }
        acc = NAME(step)(step, acc, NAME(load)(element, x + j * bytes),
                         step == CPU_STEP_DOT ? NAME(load)(element, y + j * bytes) : acc, seen);
        memcpy(lanes + j, &acc, sizeof acc);
    }
    if (j < cols) {
        char x_tail[sizeof(VEC)] = {0}, y_tail[sizeof(VEC)] = {0};
        VEC acc = NAME(neutral)(step);
        if (!fresh) {
            memcpy(&acc, lanes + j, sizeof acc);
        }
        memcpy(x_tail, x + j * bytes, (size_t)((cols - j) * bytes));
        if (step == CPU_STEP_DOT) {
            memcpy(y_tail, y + j * bytes, (size_t)((cols - j) * bytes));
        }
        acc = NAME(step)(step, acc, NAME(load)(element, x_tail), NAME(load)(element, y_tail), seen);
        memcpy(lanes + j, &acc, sizeof acc);
    }
}

/* Makes the first fold for lanes whose partner lane has no row. Such a partner would hold +0.
 * Adding +0 turns a -0 (a product that underflowed) into +0 and changes nothing else. Later folds
 * with such partners would change nothing, so they are skipped. */
SIMD_INLINE void NAME(clear_signs)(LANE *lanes, int used, int cols)
{
    const int half = CPU_REDUCE_LANES / 2;
    for (int l = used > half ? used - half : 0; l < used && l < half; l++) {
        LANE *to = lanes + l * CPU_REDUCE_STRIP;
        for (int j = 0; j < cols; j += WIDTH) {
            VEC a;
            memcpy(&a, to + j, sizeof a);
            a = NAME(fold)(CPU_STEP_DOT, a, NAME(neutral)(CPU_STEP_DOT));
            memcpy(to + j, &a, sizeof a);
        }
    }
}

/* Reduces one block of at most 4096 rows of a strip. `scratch` holds 128 lanes for each column. */
SIMD_INLINE void NAME(strip)(int element, int step, const cpu_reduce_strip *s, void *scratch,
                             LANE *out, uint64_t *rare)
{
    const ptrdiff_t x_row = s->ld_x * element_bytes(element);
    const ptrdiff_t y_row = s->ld_y * element_bytes(element);
    const char *x = s->x, *y = s->y;
    LANE *lanes = scratch;
    rare_bits seen = {0};
    for (int i = 0; i < s->rows; i++, x += x_row) {
        LANE *acc = lanes + i % CPU_REDUCE_LANES * CPU_REDUCE_STRIP;
        if (i < CPU_REDUCE_LANES) {
            NAME(row)(element, step, 1, x, y, s->cols, acc, &seen);
        } else {
            NAME(row)(element, step, 0, x, y, s->cols, acc, &seen);
        }
        if (step == CPU_STEP_DOT) {
            y += y_row;
        }
    }
    if (step == CPU_STEP_SQUARES) {
        *rare = rare_any(seen);
    }
    int used = s->rows < CPU_REDUCE_LANES ? s->rows : CPU_REDUCE_LANES;
    if (step == CPU_STEP_DOT) {
        NAME(clear_signs)(lanes, used, s->cols);
    }
    for (int half = CPU_REDUCE_LANES / 2; half >= 1; half /= 2) {
        for (int l = 0; l + half < used; l++) {
            LANE *to = lanes + l * CPU_REDUCE_STRIP, *from = to + half * CPU_REDUCE_STRIP;
            for (int j = 0; j < s->cols; j += WIDTH) {
                VEC a, b;
                memcpy(&a, to + j, sizeof a);
                memcpy(&b, from + j, sizeof b);
                a = NAME(fold)(step, a, b);
                memcpy(to + j, &a, sizeof a);
            }
        }
        used = used < half ? used : half;
    }
    memcpy(out, lanes, (size_t)s->cols * sizeof(LANE));
}

#undef NAME
#undef VEC
#undef WIDTH
#undef LANE
#undef LANE_SIGNED
#undef LANE_NAME
