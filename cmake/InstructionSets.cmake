# SPDX-License-Identifier: Apache-2.0
# InstructionSets.cmake - the compiler's flags for each instruction set of CPU kernels: the library's
# own, those that it compiles at run time, and those that `isomer kernel embed` compiles.
set(flags_generic "")
set(flags_neon "")
set(flags_sve256 -march=armv8.2-a+sve -msve-vector-bits=256)
set(flags_sve512 -march=armv8.2-a+sve -msve-vector-bits=512)
set(flags_avx2 -mavx2 -mfma -mf16c)
set(flags_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c -mprefer-vector-width=512)
set(flags_avx512vnni ${flags_avx512} -mavx512vnni)

# "generic:,avx2:-mavx2 -mfma,"
set(ISOMER_SET_FLAGS "")
foreach(set_name generic neon sve256 sve512 avx2 avx512 avx512vnni)
  list(JOIN flags_${set_name} " " flags)
  string(APPEND ISOMER_SET_FLAGS "${set_name}:${flags},")
endforeach()
