# SPDX-License-Identifier: Apache-2.0
# Protection by compilers and linkers against overwritten stacks, buffers and jumps, for all that is
# installed: the library, the tool, the helper program.
#
#   isomer_hardening   stack protectors, -fcf-protection, PIE, RELRO, BIND_NOW
#   isomer_fortified   also _FORTIFY_SOURCE; not for the CPU's kernels: their copies have fixed sizes, and
#                      with it gcc 12 unrolls the loops of reductions differently
include(CheckCCompilerFlag)
include(CheckPIESupported)

option(ISOMER_HARDENING "Build with BIND_NOW, RELRO, stack protectors, _FORTIFY_SOURCE and -fcf-protection" ON)

check_pie_supported() # links programs as PIE, as CMAKE_POSITION_INDEPENDENT_CODE asks for
add_library(isomer_hardening INTERFACE)
add_library(isomer_fortified INTERFACE)
target_link_libraries(isomer_fortified INTERFACE isomer_hardening)
if(ISOMER_HARDENING)
  check_c_compiler_flag(-fstack-protector-strong ISOMER_HAS_STACK_PROTECTOR)
  if(ISOMER_HAS_STACK_PROTECTOR)
    target_compile_options(isomer_hardening INTERFACE -fstack-protector-strong)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64|AMD64|i.86")
    check_c_compiler_flag(-fcf-protection=full ISOMER_HAS_CF_PROTECTION)
    if(ISOMER_HAS_CF_PROTECTION)
      target_compile_options(isomer_hardening INTERFACE -fcf-protection=full)
    endif()
  endif()
  # A sanitizer sees more. It needs optimization; some compilers define it by themselves.
  if(NOT ISOMER_SANITIZE)
    target_compile_options(isomer_fortified INTERFACE
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-U_FORTIFY_SOURCE>
      $<$<CONFIG:Release,RelWithDebInfo,MinSizeRel>:-D_FORTIFY_SOURCE=3>)
  endif()
  # Libraries opened at run time are bound at once too: the library leaves no symbol open.
  target_link_options(isomer_hardening INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
