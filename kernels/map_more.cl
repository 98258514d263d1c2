/* SPDX-License-Identifier: Apache-2.0 */
/* map_more.cl - the kernels of the other maps of arrays: map_words.cl. */
#define ONE(name, way, op)                                                                         \
    ISO_KERNEL(ISO_THREADS)                                                                        \
    name(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)      \
    {                                                                                              \
        way(op, x + x_at, x + x_at, x + x_at, z + z_at, n, (acc)0, (acc)0);                        \
    }
#define TWO(name, way, op)                                                                         \
    ISO_KERNEL(ISO_THREADS)                                                                        \
    name(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,           \
         ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)                                              \
    {                                                                                              \
        way(op, x + x_at, y + y_at, x + x_at, z + z_at, n, (acc)0, (acc)0);                        \
    }

TWO(map_subtract, map_tiled, SUBTRACT)
TWO(map_min, map_tiled, LEAST)
TWO(map_max, map_tiled, MOST)
ONE(map_abs, map_tiled, MAGNITUDE)
ONE(map_negate, map_tiled, OPPOSITE)
#if !INTEGER
TWO(map_divide, map_tiled, DIVIDE)
ONE(map_relu, map_tiled, RELU)
ONE(map_exp, map_tiled, EXP)
ONE(map_tanh, map_tiled, TANH)

ISO_KERNEL(ISO_THREADS)
map_axpby(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
          ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n, acc alpha, acc beta)
{
    map_tiled(AXPBY, x + x_at, y + y_at, x + x_at, z + z_at, n, alpha, beta);
}

ISO_KERNEL(ISO_THREADS)
map_fma(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
        ISO_GLOBAL const elem *w, iso_i64 w_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_tiled(FMA_OF, x + x_at, y + y_at, w + w_at, z + z_at, n, (acc)0, (acc)0);
}
#endif

#if defined(MAP_NAIVE)

TWO(map_naive_subtract, map_naive, SUBTRACT)
TWO(map_naive_min, map_naive, LEAST)
TWO(map_naive_max, map_naive, MOST)
ONE(map_naive_abs, map_naive, MAGNITUDE)
ONE(map_naive_negate, map_naive, OPPOSITE)
#if !INTEGER
TWO(map_naive_divide, map_naive, DIVIDE)
ONE(map_naive_relu, map_naive, RELU)
ONE(map_naive_exp, map_naive, EXP)
ONE(map_naive_tanh, map_naive, TANH)

ISO_KERNEL(ISO_THREADS)
map_naive_axpby(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
                ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n, acc alpha, acc beta)
{
    map_naive(AXPBY, x + x_at, y + y_at, x + x_at, z + z_at, n, alpha, beta);
}

ISO_KERNEL(ISO_THREADS)
map_naive_fma(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
              ISO_GLOBAL const elem *w, iso_i64 w_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_naive(FMA_OF, x + x_at, y + y_at, w + w_at, z + z_at, n, (acc)0, (acc)0);
}
#endif

#endif
