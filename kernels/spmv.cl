/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spmv.cl - the product of a sparse matrix and a vector: y = alpha A x + beta y.
 *
 *   SPMV_WIDE   defined if offsets and columns are i64
 *   SPMV_NARROW defined if columns are u16
 *   SPMV_TEAM   work-items that add one segment of a row: a power of two up to LANES
 *
 * A work-item of a team runs LANES / SPMV_TEAM lanes. Item t of the work is the first segment of
 * row t; the items behind the rows are the further segments of long rows, in order. The sums of a
 * long row's segments go to `work`, and spmv_join adds them: docs/bits.md, 12.
 *
 * If `entries` is 0, no row has any, and no array may be read.
 */
#define LANES   32
#define SEGMENT 4096
#define TEAMS   (ISO_THREADS / SPMV_TEAM) /* of a group */
#define MINE    (LANES / SPMV_TEAM)       /* lanes of a work-item */
#define DEEP    (8 / MINE) /* entries of a lane that are read together, for teams from 8 on */
#define BATCH   (LANES * DEEP)

#if defined(SPMV_WIDE)
typedef iso_i64 number;
#else
typedef iso_i32 number;
#endif

#if defined(SPMV_NARROW)
typedef iso_u16 place_of_x;
#else
typedef number place_of_x;
#endif

/* One row for each work-item. */
ISO_KERNEL(ISO_THREADS)
spmv_naive(ISO_GLOBAL const number *offsets, iso_i64 offsets_at,
           ISO_GLOBAL const place_of_x *columns, iso_i64 columns_at, ISO_GLOBAL const elem *values,
           iso_i64 values_at, ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *y,
           iso_i64 y_at, iso_i64 rows, iso_i64 entries, acc alpha, acc beta)
{
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 row = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); row < rows; row += step) {
        const iso_i64 end = entries ? offsets[offsets_at + row + 1] : 0;
        acc sum = (acc)0;
        for (iso_i64 i = entries ? offsets[offsets_at + row] : 0; i < end; i++) {
            sum = acc_fma(values[values_at + i], x[x_at + columns[columns_at + i]], sum);
        }
        iso_finish(y, y_at + row, sum, alpha, beta);
    }
}

/* The row of further segment `extra`: the last one that has no more further segments before it. */
ISO_INLINE iso_i64 find_row(ISO_GLOBAL const iso_i64 *starts, iso_i64 starts_at, iso_i64 rows,
                            iso_i64 extra)
{
    iso_i64 low = 0;
    iso_i64 high = rows;
    while (high - low > 1) {
        const iso_i64 middle = low + (high - low) / 2;
        if (starts[starts_at + middle] - middle <= extra) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

#if SPMV_TEAM > 1 && ISO_SHUFFLE
/* The value of the work-item `delta` behind this one. */
ISO_INLINE acc take(acc value, int delta)
{
#if ISO_DTYPE == ISO_F64
    const iso_u64 bits = iso_as_u64(value);
    const iso_u64 low = (iso_u32)iso_shuffle_down((iso_u32)bits, delta);
    const iso_u64 high = (iso_u32)iso_shuffle_down((iso_u32)(bits >> 32), delta);
    return iso_as_f64(high << 32 | low);
#else
    return iso_as_f32((iso_u32)iso_shuffle_down(iso_as_u32(value), delta));
#endif
}
#endif

#if MINE < 8
/* `deep` entries of each lane are read before the first is used. AT(e): the entry to read, and
 * IN(e): whether e is one. */
#define ADD_BATCH(deep, AT, IN)                                                                    \
    {                                                                                              \
        place_of_x column[(deep) * MINE];                                                          \
        acc value[(deep) * MINE], factor[(deep) * MINE];                                           \
        ISO_UNROLL                                                                                 \
        for (int i = 0; i < (deep) * MINE; i++) {                                                  \
            column[i] = columns[AT(i * SPMV_TEAM)];                                                \
            value[i] = values[AT(i * SPMV_TEAM)];                                                  \
        }                                                                                          \
        ISO_UNROLL                                                                                 \
        for (int i = 0; i < (deep) * MINE; i++) {                                                  \
            factor[i] = x[column[i]];                                                              \
        }                                                                                          \
        ISO_UNROLL                                                                                 \
        for (int i = 0; i < (deep) * MINE; i++) {                                                  \
            const acc next = acc_fma(value[i], factor[i], sum[i % MINE]);                          \
            sum[i % MINE] = IN(i * SPMV_TEAM) ? next : sum[i % MINE];                              \
        }                                                                                          \
        columns += (deep) * LANES;                                                                 \
        values += (deep) * LANES;                                                                  \
        left -= (deep) * LANES;                                                                    \
    }
#define ANY(e) (e)
#define ALL(e) 1
/* Past the end the last entry is read: a read under a condition would wait for those before it. */
#define LAST(e) ((e) < left ? (e) : left - 1)
#define SOME(e) ((e) < left)

/* Adds this work-item's entries of a segment to its lanes. A lane without an entry stays as it is.
 * `place`: of the work-item in its team. */
ISO_INLINE void add_entries(ISO_GLOBAL const place_of_x *columns, ISO_GLOBAL const elem *values,
                            ISO_GLOBAL const elem *x, int place, int count, acc *sum)
{
    int left = count - place; /* from this work-item's first entry on */
    columns += place;
    values += place;
    while (left + place >= BATCH) {
        ADD_BATCH(DEEP, ANY, ALL)
    }
    if (left + place >= BATCH / 2) {
        ADD_BATCH(DEEP / 2, ANY, ALL)
    }
    if (left > 0) {
        ADD_BATCH(DEEP / 2, LAST, SOME)
    }
}
#else
/* The same for small teams, whose work-items have 8 lanes or more. */
ISO_INLINE void add_entries(ISO_GLOBAL const place_of_x *columns, ISO_GLOBAL const elem *values,
                            ISO_GLOBAL const elem *x, int place, int count, acc *sum)
{
    for (int p = 0; p < count; p += LANES) {
        acc value[MINE], factor[MINE];
        if (count - p >= LANES) {
            place_of_x column[MINE];
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                column[i] = columns[p + place + i * SPMV_TEAM];
                value[i] = values[p + place + i * SPMV_TEAM];
            }
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                factor[i] = x[column[i]];
            }
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                sum[i] = acc_fma(value[i], factor[i], sum[i]);
            }
        } else {
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                const int e = p + place + i * SPMV_TEAM;
                value[i] = e < count ? values[e] : (acc)0;
                factor[i] = e < count ? x[columns[e]] : (acc)0;
            }
            ISO_UNROLL
            for (int i = 0; i < MINE; i++) {
                if (p + place + i * SPMV_TEAM < count) {
                    sum[i] = acc_fma(value[i], factor[i], sum[i]);
                }
            }
        }
    }
}
#endif

/* All work-items of a group take part in every round, because they meet at barriers and shuffles.
 */
ISO_KERNEL(ISO_THREADS)
spmv_tiled(ISO_GLOBAL const number *offsets, iso_i64 offsets_at,
           ISO_GLOBAL const place_of_x *columns, iso_i64 columns_at, ISO_GLOBAL const elem *values,
           iso_i64 values_at, ISO_GLOBAL const iso_i64 *starts, iso_i64 starts_at,
           ISO_GLOBAL const elem *x, iso_i64 x_at, ISO_GLOBAL elem *y, iso_i64 y_at,
           ISO_GLOBAL acc *work, iso_i64 work_at, iso_i64 rows, iso_i64 entries, iso_i64 segments,
           acc alpha, acc beta)
{
#if SPMV_TEAM > 1 && !ISO_SHUFFLE
    ISO_SHARED acc shared[ISO_THREADS];
#endif
    const int place = ISO_LOCAL_ID() % SPMV_TEAM;
    const iso_i64 team = ISO_LOCAL_ID() / SPMV_TEAM;
    for (iso_i64 first = ISO_GROUP_ID() * TEAMS; first < segments;
         first += ISO_GROUP_COUNT() * TEAMS) {
        const iso_i64 item = first + team;
        iso_i64 row = item;
        iso_i64 segment = 0;
        iso_i64 from = 0;
        iso_i64 length = 0;
        acc sum[MINE];
        ISO_UNROLL
        for (int i = 0; i < MINE; i++) {
            sum[i] = (acc)0;
        }
        if (item >= rows && item < segments) {
            row = find_row(starts, starts_at, rows, item - rows);
            segment = item - rows - (starts[starts_at + row] - row) + 1;
        }
        if (item < segments && entries) {
            from = offsets[offsets_at + row];
            length = offsets[offsets_at + row + 1] - from;
            const iso_i64 left = length - segment * SEGMENT;
            from += segment * SEGMENT;
            add_entries(columns + columns_at + from, values + values_at + from, x + x_at, place,
                        (int)(left < SEGMENT ? left : SEGMENT), sum);
        }
        for (int span = MINE / 2; span > 0; span /= 2) {
            for (int i = 0; i < span; i++) {
                sum[i] = sum[i] + sum[i + span];
            }
        }
#if SPMV_TEAM > 1 && ISO_SHUFFLE
        for (int span = SPMV_TEAM / 2; span > 0; span /= 2) {
            sum[0] = sum[0] + take(sum[0], span);
        }
#elif SPMV_TEAM > 1
        shared[ISO_LOCAL_ID()] = sum[0];
        ISO_BARRIER();
        for (int span = SPMV_TEAM / 2; span > 0; span /= 2) {
            if (place < span) {
                shared[ISO_LOCAL_ID()] = shared[ISO_LOCAL_ID()] + shared[ISO_LOCAL_ID() + span];
            }
            ISO_BARRIER();
        }
        sum[0] = shared[ISO_LOCAL_ID()];
        ISO_BARRIER();
#endif
        if (place == 0 && item < segments) {
            if (length > SEGMENT) {
                const iso_i64 slot = 2 * (starts[starts_at + row] - row) + segment;
                work[work_at + slot] = sum[0];
            } else {
                iso_finish(y, y_at + row, sum[0], alpha, beta);
            }
        }
    }
}

#define AHEAD 16 /* sums that are read before the first is used */

/* Adds the sums of each long row's segments: the work-item of its first further segment does. */
ISO_KERNEL(ISO_THREADS)
spmv_join(ISO_GLOBAL const iso_i64 *starts, iso_i64 starts_at, ISO_GLOBAL elem *y, iso_i64 y_at,
          ISO_GLOBAL const acc *work, iso_i64 work_at, iso_i64 rows, iso_i64 segments, acc alpha,
          acc beta)
{
    const iso_i64 step = ISO_GROUP_COUNT() * ISO_THREADS;
    for (iso_i64 extra = ISO_GROUP_ID() * ISO_THREADS + ISO_LOCAL_ID(); extra < segments - rows;
         extra += step) {
        const iso_i64 row = find_row(starts, starts_at, rows, extra);
        const iso_i64 start = starts[starts_at + row];
        const iso_i64 count = starts[starts_at + row + 1] - start;
        ISO_GLOBAL const acc *of = work + work_at + 2 * (start - row);
        if (start - row == extra) {
            acc total = of[0];
            iso_i64 s = 1;
            for (; s + AHEAD <= count; s += AHEAD) {
                acc next[AHEAD];
                ISO_UNROLL
                for (int j = 0; j < AHEAD; j++) {
                    next[j] = of[s + j];
                }
                ISO_UNROLL
                for (int j = 0; j < AHEAD; j++) {
                    total = total + next[j];
                }
            }
            for (; s < count; s++) {
                total = total + of[s];
            }
            iso_finish(y, y_at + row, total, alpha, beta);
        }
    }
}
