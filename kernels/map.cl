/* SPDX-License-Identifier: Apache-2.0 */
/* map.cl - the kernels of copy, scale, add, multiply, triad and chain: map_words.cl. */
/* ---- tiled ----------------------------------------------------------------------------------- */

ISO_KERNEL(ISO_THREADS)
map_copy(ISO_GLOBAL const cell *x, iso_i64 x_at, ISO_GLOBAL cell *z, iso_i64 z_at, iso_i64 n)
{
    copy_tiled(x + x_at, z + z_at, n);
}

#if !COPIES

ISO_KERNEL(ISO_THREADS)
map_add(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
        ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_tiled(ADD, x + x_at, y + y_at, x + x_at, z + z_at, n, (acc)0, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_multiply(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
             ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_tiled(MULTIPLY, x + x_at, y + y_at, x + x_at, z + z_at, n, (acc)0, (acc)0);
}

#if !INTEGER

ISO_KERNEL(ISO_THREADS)
map_scale(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n,
          acc alpha)
{
    map_tiled(SCALE, x + x_at, x + x_at, x + x_at, z + z_at, n, alpha, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_triad(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
          ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n, acc alpha)
{
    map_tiled(TRIAD, x + x_at, y + y_at, x + x_at, z + z_at, n, alpha, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_chain(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n,
          acc alpha, acc beta, iso_i64 steps)
{
    chain_tiled(x + x_at, z + z_at, n, alpha, beta, steps);
}

#endif

#endif

/* ---- naive: one element per work-item -------------------------------------------------------- */

#if defined(MAP_NAIVE)

ISO_KERNEL(ISO_THREADS)
map_naive_copy(ISO_GLOBAL const cell *x, iso_i64 x_at, ISO_GLOBAL cell *z, iso_i64 z_at, iso_i64 n)
{
    iso_i64 i;
    FOR_ELEMENTS(i, n)
    {
        z[z_at + i] = x[x_at + i];
    }
}

#if !COPIES

ISO_KERNEL(ISO_THREADS)
map_naive_add(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
              ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_naive(ADD, x + x_at, y + y_at, x + x_at, z + z_at, n, (acc)0, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_naive_multiply(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
                   ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n)
{
    map_naive(MULTIPLY, x + x_at, y + y_at, x + x_at, z + z_at, n, (acc)0, (acc)0);
}

#if !INTEGER

ISO_KERNEL(ISO_THREADS)
map_naive_scale(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n,
                acc alpha)
{
    map_naive(SCALE, x + x_at, x + x_at, x + x_at, z + z_at, n, alpha, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_naive_triad(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL const elem *y, iso_i64 y_at,
                ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n, acc alpha)
{
    map_naive(TRIAD, x + x_at, y + y_at, x + x_at, z + z_at, n, alpha, (acc)0);
}

ISO_KERNEL(ISO_THREADS)
map_naive_chain(ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *z, iso_i64 z_at, iso_i64 n,
                acc alpha, acc beta, iso_i64 steps)
{
    iso_i64 i, left;
    FOR_ELEMENTS(i, n)
    {
        acc v = iso_load(x, x_at + i);
        for (left = steps; left > 0; left--) {
            v = acc_fma(v, alpha, beta);
        }
        iso_store(z, z_at + i, v);
    }
}

#endif

#endif

#endif
