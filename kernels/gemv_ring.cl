/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemv_ring.cl - the product of gemv.cl, with the same bits, on devices that copy from global to
 * shared memory without registers. The first team of a group runs the chains; the others copy A.
 * Slices of A go round ISO_STAGES places in shared memory: while the chains run over one, up to
 * ISO_WAIT + 1 are being copied.
 *
 *   GEMV_ALONG  1: A is stored m x k, and its rows are contiguous along k; 0: stored k x m
 *   GEMV_COPY   bytes that one copy moves
 *   GEMV_READ   bytes that a work-item reads at once: its chain's next elements, or those of its
 *               neighbouring chains
 *   GEMV_DEEP   k's of a slice
 */
#define ISO_STAGES (ISO_WAIT + 2)

#if ISO_DTYPE == ISO_F64
typedef ISO_F64X2 quad;
#define SIZE 8 /* bytes of an element */
#elif ISO_DTYPE == ISO_F32
typedef ISO_F32X4 quad;
#define SIZE 4
#else
typedef ISO_F32X4 quad;
#define SIZE 2
#endif
#define QUAD (16 / (int)sizeof(acc)) /* factors of x in a vector */
#define EACH (GEMV_COPY / SIZE)      /* elements that a copy moves */

/* The first cache helps where lines of A begin anywhere, if places leave it room. */
#if GEMV_COPY == 16 && GEMV_ALONG && SIZE < 8
#define COPY_WORD ISO_COPY_CACHED
#elif GEMV_COPY == 16
#define COPY_WORD ISO_COPY_LINE
#elif GEMV_COPY == 8
#define COPY_WORD ISO_COPY_8
#else
#define COPY_WORD ISO_COPY_4
#endif

/* A slice has LINES lines, PITCH bytes apart, of PER_LINE copies. The copying teams copy
 * LINES_AT_ONCE of them at once. */
#if GEMV_ALONG
#define CHAINS   1 /* of a work-item */
#define LINES    ISO_TEAM
#define PER_LINE (GEMV_DEEP / EACH)
#define PITCH    (GEMV_DEEP * SIZE + 16) /* lines begin in different banks */
#else
#define CHAINS   (GEMV_READ / SIZE)
#define LINES    GEMV_DEEP
#define PER_LINE (ISO_TEAM * GEMV_READ / GEMV_COPY)
#define PITCH    (ISO_TEAM * GEMV_READ)
#endif
#define HEIGHT        (ISO_TEAM * CHAINS) /* rows of op(A) of a group */
#define LINES_AT_ONCE ((ISO_THREADS - ISO_TEAM) / PER_LINE)
#define SLICE         (LINES * PITCH) /* in bytes */

/* What a work-item has read, as elements. */
#if ISO_DTYPE == ISO_F64
#define ELEMENT(w, i) iso_as_f64((iso_u64)(w)[2 * (i) + 1] << 32 | (w)[2 * (i)])
#elif ISO_DTYPE == ISO_F32
#define ELEMENT(w, i) iso_as_f32((w)[i])
#else
#define ELEMENT(w, i) FROM_BITS((w)[(i) / 2] >> (i) % 2 * 16 & 0xffffu)
#endif

/* What a work-item copies next, and its distance from line to line of the stored A. From there on
 * so many lines and elements of the line are left. */
typedef struct ring_reading {
    ISO_GLOBAL const elem *next;
    iso_i64 lda;
    int lines, elements;
} ring_reading;

ISO_INLINE void copy_slice(iso_place to, ring_reading *from)
{
    ISO_GLOBAL const elem *line = from->next;
    if (from->lines >= LINES && from->elements > 0) {
        ISO_UNROLL
        for (int i = 0; i < LINES; i += LINES_AT_ONCE) {
            COPY_WORD(to + i * PITCH, line, 1);
            line += LINES_AT_ONCE * from->lda;
        }
    } else {
        ISO_UNROLL
        for (int i = 0; i < LINES; i += LINES_AT_ONCE) {
            COPY_WORD(to + i * PITCH, line, i < from->lines && from->elements > 0);
            line += LINES_AT_ONCE * from->lda;
        }
    }
#if GEMV_ALONG
    from->next += GEMV_DEEP;
    from->elements -= GEMV_DEEP;
#else
    from->next = line;
    from->lines -= GEMV_DEEP;
#endif
    ISO_COPY_COMMIT();
}

ISO_INLINE void take(ISO_SHARED_AT const iso_u32 *from, iso_u32 *w)
{
#if GEMV_READ == 16
    const ISO_U32X4 q = *(ISO_SHARED_AT const ISO_U32X4 *)from;
    w[0] = q.x;
    w[1] = q.y;
    w[2] = q.z;
    w[3] = q.w;
#elif GEMV_READ == 8
    const iso_u64 q = *(ISO_SHARED_AT const iso_u64 *)from;
    w[0] = (iso_u32)q;
    w[1] = (iso_u32)(q >> 32);
#else
    w[0] = *from;
#endif
}

ISO_INLINE void take_factors(ISO_SHARED_AT const quad *xs, int p, acc *x)
{
    const quad q = xs[p / QUAD];
    x[0] = q.x;
    x[1] = q.y;
#if ISO_DTYPE != ISO_F64
    x[2] = q.z;
    x[3] = q.w;
#endif
}

/* Continues the chains over a whole slice, whose first k of the segment is p. */
ISO_INLINE void add_slice(ISO_SHARED_AT const iso_u32 *slice, ISO_SHARED_AT const quad *xs, int p,
                          acc *sum)
{
    acc x[GEMV_DEEP];
    iso_u32 w[GEMV_READ / 4];
    ISO_UNROLL
    for (int k = 0; k < GEMV_DEEP; k += QUAD) {
        take_factors(xs, p + k, x + k);
    }
#if GEMV_ALONG
    ISO_UNROLL
    for (int k = 0; k < GEMV_DEEP; k += 16 / SIZE) {
        take(slice + k * SIZE / 4, w);
        ISO_UNROLL
        for (int i = 0; i < 16 / SIZE; i++) {
            sum[0] = acc_fma(ELEMENT(w, i), x[k + i], sum[0]);
        }
    }
#else
    ISO_UNROLL
    for (int k = 0; k < GEMV_DEEP; k++) {
        take(slice + k * (PITCH / 4), w);
        ISO_UNROLL
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = acc_fma(ELEMENT(w, i), x[k], sum[i]);
        }
    }
#endif
}

/* The same over the first `count` k's of a slice. */
ISO_INLINE void add_some(ISO_SHARED_AT const iso_u32 *slice, ISO_SHARED_AT const acc *xs, int count,
                         acc *sum)
{
#pragma unroll 1
    for (int k = 0; k < count; k++) {
#if GEMV_ALONG && SIZE == 8
        const iso_u32 w[2] = {slice[2 * k], slice[2 * k + 1]};
        sum[0] = acc_fma(ELEMENT(w, 0), xs[k], sum[0]);
#elif GEMV_ALONG && SIZE == 4
        const iso_u32 w[1] = {slice[k]};
        sum[0] = acc_fma(ELEMENT(w, 0), xs[k], sum[0]);
#elif GEMV_ALONG
        sum[0] = acc_fma(FROM_BITS(slice[k / 2] >> k % 2 * 16 & 0xffffu), xs[k], sum[0]);
#else
        iso_u32 w[GEMV_READ / 4];
        take(slice + k * (PITCH / 4), w);
        ISO_UNROLL
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = acc_fma(ELEMENT(w, i), xs[k], sum[i]);
        }
#endif
    }
}

/* What a group computes at a time. */
typedef struct ring_work {
    iso_i64 member, segment, first_k, first_row;
    int count, rows; /* k's and rows of op(A) */
} ring_work;

/* Groups that run side by side read one part of A: whole rows of the stored matrix. */
ISO_INLINE ring_work work_of(iso_i64 group, iso_i64 m, iso_i64 k, iso_i64 blocks, iso_i64 segments,
                             iso_i64 batch)
{
    ring_work w;
#if GEMV_ALONG
    const iso_i64 block = group / segments % blocks;
    w.segment = group % segments;
#else
    const iso_i64 block = group % blocks;
    w.segment = group / blocks % segments;
#endif
    w.member = batch > 1 ? group / blocks / segments : 0;
    w.first_k = w.segment * SEGMENT;
    w.first_row = block * HEIGHT;
    w.count = (int)(k - w.first_k > SEGMENT ? SEGMENT : k - w.first_k);
    w.rows = (int)(m - w.first_row < HEIGHT ? m - w.first_row : HEIGHT);
    return w;
}

/* The k's that are copied. The others are a copy's rest. */
#if GEMV_ALONG
#define WHOLE(count) ((count) / EACH * EACH)
#else
#define WHOLE(count) (count)
#endif

/* Where copies of a work-item begin in the first slice. */
#define LINE(id)     ((id) / PER_LINE)
#define ELEMENTS(id) ((id) % PER_LINE * EACH)

ISO_INLINE ring_reading reading_of(ISO_GLOBAL const elem *a, iso_i64 lda, const ring_work *w,
                                   int id)
{
    const int line = LINE(id), element = ELEMENTS(id);
    ring_reading from;
    from.lda = lda;
#if GEMV_ALONG
    from.next = a + (w->first_row + line) * lda + (w->first_k + element);
    from.lines = w->rows - line;
    from.elements = WHOLE(w->count) - element;
#else
    from.next = a + (w->first_k + line) * lda + (w->first_row + element);
    from.lines = w->count - line;
    from.elements = w->rows - element;
#endif
    return from;
}

/* Begins to copy the first slices. */
ISO_INLINE void begin_ring(iso_place to, ring_reading *from)
{
#pragma unroll 1
    for (int s = 0; s < ISO_STAGES - 1; s++) {
        copy_slice(to + s * SLICE, from);
    }
}

/* Runs the chains over `whole` k's, or copies what is left of them. */
ISO_INLINE void run_ring(ISO_SHARED_AT const iso_u32 *mine, ISO_SHARED_AT const quad *xs,
                         iso_place to, ring_reading *from, int copies, int whole, acc *sum)
{
    int at = 0, next = ISO_STAGES - 1;
#pragma unroll 1
    for (int p = 0; p < whole; p += GEMV_DEEP) {
        ISO_COPY_WAIT();
        ISO_BARRIER();
        if (copies) {
            copy_slice(to + next * SLICE, from);
        } else if (whole - p >= GEMV_DEEP) {
            add_slice(mine + at * (SLICE / 4), xs, p, sum);
        } else {
            add_some(mine + at * (SLICE / 4), (ISO_SHARED_AT const acc *)xs + p, whole - p, sum);
        }
        at = at + 1 < ISO_STAGES ? at + 1 : 0;
        next = next + 1 < ISO_STAGES ? next + 1 : 0;
    }
}

/* The arguments are those of gemv_tiled; `shift` and `wide` are not used. The host takes this
 * kernel only if all copies are aligned, and, if A is stored k x m, a row has whole copies only. */
ISO_KERNEL_OF(ISO_THREADS, ISO_GROUPS)
gemv_ring(ISO_GLOBAL const elem *a, iso_i64 a_at, iso_i64 lda, iso_i64 stride_a,
          ISO_GLOBAL const elem *x, iso_i64 x_at, iso_i64 inc_x, iso_i64 stride_x,
          ISO_GLOBAL elem *y, iso_i64 y_at, iso_i64 inc_y, iso_i64 stride_y, ISO_GLOBAL acc *work,
          iso_i64 work_at, iso_i64 m, iso_i64 k, iso_i64 batch, acc alpha, acc beta, iso_i32 shift,
          iso_i32 wide)
{
    ISO_SHARED ISO_U32X4 places[ISO_STAGES * SLICE / 16];
    ISO_SHARED quad xs[SEGMENT / QUAD];
    ISO_NEXT_MAY_BEGIN();
    const int copies = ISO_LOCAL_ID() >= ISO_TEAM;
    const int id = copies ? ISO_LOCAL_ID() - ISO_TEAM : ISO_LOCAL_ID();
    const int row = id * CHAINS; /* of the group's */
    const iso_place to = ISO_PLACE(places) + (LINE(id) * PITCH + ELEMENTS(id) * SIZE);
    ISO_SHARED_AT const iso_u32 *const mine =
        (ISO_SHARED_AT const iso_u32 *)places + id * ((GEMV_ALONG ? PITCH : GEMV_READ) / 4);
    const iso_i64 segments = k > SEGMENT ? (k - 1) / SEGMENT + 1 : 1;
    const iso_i64 blocks = (m - 1) / HEIGHT + 1;
    for (iso_i64 group = ISO_GROUP_ID(); group < blocks * segments * batch;
         group += ISO_GROUP_COUNT()) {
        const ring_work w = work_of(group, m, k, blocks, segments, batch);
        ISO_GLOBAL const elem *const member_a = a + a_at + w.member * stride_a;
        ring_reading from = reading_of(member_a, lda, &w, id);
        acc sum[CHAINS];
        ISO_UNROLL
        for (int i = 0; i < CHAINS; i++) {
            sum[i] = (acc)0;
        }
        if (copies) {
            begin_ring(to, &from);
        }
        stage_x((ISO_SHARED_AT acc *)xs, x, x_at + w.member * stride_x + w.first_k * inc_x, inc_x,
                w.count);
        run_ring(mine, xs, to, &from, copies, WHOLE(w.count), sum);
#if GEMV_ALONG
        if (WHOLE(w.count) == 0) {
            ISO_BARRIER(); /* of x */
        }
        for (int p = WHOLE(w.count); p < w.count && row < w.rows; p++) {
            sum[0] = acc_fma(iso_load(member_a, (w.first_row + row) * lda + w.first_k + p),
                             ((ISO_SHARED_AT const acc *)xs)[p], sum[0]);
        }
#endif
        ISO_UNROLL
        for (int i = 0; i < CHAINS && !copies; i++) {
            const iso_i64 at = w.first_row + row + i;
            if (row + i < w.rows && segments == 1) {
                iso_finish(y, y_at + w.member * stride_y + at * inc_y, sum[i], alpha, beta);
            } else if (row + i < w.rows) {
                work[work_at + (w.segment * batch + w.member) * m + at] = sum[i];
            }
        }
        ISO_BARRIER(); /* before the next group's copies */
    }
}
