/* SPDX-License-Identifier: Apache-2.0 */
/* halves.cl - conversions of half precision and fma as a compiler's own library has them: plain
 * ones, to nearest, which the compiler sees through. */
#define HALVES(space)                                                                              \
    __attribute__((overloadable)) float vload_half(size_t i, const space half *p)                  \
    {                                                                                              \
        return __builtin_load_halff(p + i);                                                        \
    }                                                                                              \
    __attribute__((overloadable)) void vstore_half_rte(float value, size_t i, space half *p)       \
    {                                                                                              \
        __builtin_store_halff(value, p + i);                                                       \
    }
#if !defined(__SPIR__)
HALVES(__global)
HALVES(__private)
__attribute__((overloadable)) float fma(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
#endif
