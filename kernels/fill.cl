/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill.cl - fills rows of memory with a repeated pattern.
 *
 * Memory is divided into slots of 16 bytes, which are aligned to 16 bytes. A slot that is entirely
 * in a row is written with one store of 16 bytes. In a slot at an end of a row, only the row's
 * bytes are written, one by one. The pattern is passed as the 16 bytes of a slot, because every
 * pattern repeats within 16 bytes.
 *
 * A group handles blocks. A block is FILL_RUN << across slots wide and ISO_THREADS >> across rows
 * high.
 */
#define FILL_RUN 4 /* slots of one work-item in a block */

/* Byte `at` of a slot. */
ISO_INLINE iso_u8 fill_byte(ISO_U32X4 slot, int at)
{
    iso_u32 word = at < 8 ? (at < 4 ? slot.x : slot.y) : (at < 12 ? slot.z : slot.w);
    return (iso_u8)(word >> 8 * (at & 3));
}

/* `phase` is the address `memory` modulo 16. */
ISO_KERNEL(ISO_THREADS)
fill(ISO_GLOBAL iso_u8 *memory, iso_i64 offset, iso_i64 width, iso_i64 height, iso_i64 pitch,
     iso_i64 phase, iso_u32 slot_x, iso_u32 slot_y, iso_u32 slot_z, iso_u32 slot_w, iso_i32 across,
     iso_i64 blocks_across, iso_i64 blocks)
{
    const ISO_U32X4 slot = iso_u32x4(slot_x, slot_y, slot_z, slot_w);
    const int column = ISO_LOCAL_ID() & ((1 << across) - 1);
    const int line = ISO_LOCAL_ID() >> across;
    iso_i64 block;
    for (block = ISO_GROUP_ID(); block < blocks; block += ISO_GROUP_COUNT()) {
        const iso_i64 down = block / blocks_across;
        const iso_i64 row = down * (ISO_THREADS >> across) + line;
        const iso_i64 start = offset + row * pitch, end = start + width;
        iso_i64 at = ((block - down * blocks_across) * FILL_RUN << across) + column;
        int run;
        at = ((start + phase) & ~(iso_i64)15) - phase + at * 16;
        if (row >= height) {
            continue;
        }
        ISO_UNROLL
        for (run = 0; run < FILL_RUN; run++) {
            if (at >= start && at + 16 <= end) {
                *(ISO_GLOBAL ISO_U32X4 *)(memory + at) = slot;
            } else if (at < end) {
                int i;
                for (i = 0; i < 16; i++) {
                    if (at + i >= start && at + i < end) {
                        memory[at + i] = fill_byte(slot, i);
                    }
                }
            }
            at += (iso_i64)16 << across;
        }
    }
}
