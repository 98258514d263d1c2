/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reverse.cl - to = from, each group's part reversed through shared memory. Faults are planted by:
 * NO_BARRIER, ONE_ORDER (no barrier where a neighbour is read), DIVERGENT, LINES (two barriers
 * that each half of a group meets), BEYOND and SLACK (a write just behind the end), FAR (far behind
 * it), BEYOND_SHARED, HALF_SHUFFLE, SWAPPED (arguments). SHUFFLE is not a fault.
 */
ISO_KERNEL(ISO_THREADS)
#if defined(SWAPPED)
planted(ISO_GLOBAL float *ISO_RESTRICT to, ISO_GLOBAL const float *ISO_RESTRICT from, iso_i64 count)
#else
planted(ISO_GLOBAL const float *ISO_RESTRICT from, ISO_GLOBAL float *ISO_RESTRICT to, iso_i64 count)
#endif
{
    ISO_SHARED float part[ISO_THREADS];
    const int id = ISO_LOCAL_ID();
    const iso_i64 at = ISO_GROUP_ID() * ISO_THREADS + id;
    part[id] = at < count ? from[at] : 0.0f;
#if defined(DIVERGENT)
    if (id < ISO_THREADS / 2) {
        ISO_BARRIER();
    }
#elif defined(LINES)
    if (id < ISO_THREADS / 2) {
        ISO_BARRIER();
    } else {
        ISO_BARRIER();
    }
#elif !defined(NO_BARRIER) && !defined(ONE_ORDER)
    ISO_BARRIER();
#endif
#if defined(NEIGHBOUR) || defined(ONE_ORDER)
    float value = part[id > 0 ? id - 1 : 0];
#else
    float value = part[ISO_THREADS - 1 - id];
#endif
#if defined(BEYOND_SHARED)
    value += part[ISO_THREADS + id];
#endif
#if defined(SHUFFLE)
    for (int delta = 16; delta > 0; delta >>= 1) {
        value += iso_shuffle_down(value, delta);
    }
#elif defined(HALF_SHUFFLE)
    if ((id & 31) < 16) {
        value += iso_shuffle_down(value, 8);
    }
#endif
#if defined(BEYOND)
    to[at + 1] = value;
#elif defined(SLACK)
    if (at < count) {
        to[at + 1] = value;
    }
#elif defined(FAR)
    to[at + 4096] = value;
#else
    if (at < count) {
        to[at] = value;
    }
#endif
}
