# SPDX-License-Identifier: Apache-2.0
# Builds for aarch64 on another machine, with gcc-aarch64-linux-gnu and libc6-dev-arm64-cross:
#
#   cmake --preset aarch64
#
# jansson and xxhash for aarch64 come from the system (Debian's libjansson-dev:arm64 and
# libxxhash-dev), or from the folder ISOMER_AARCH64_ROOT, which cmake/aarch64-packages.sh fills
# without a change to the system. Programs run under qemu-aarch64 if it is here.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
endif()
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ISOMER_AARCH64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${ISOMER_AARCH64_ROOT} /usr/aarch64-linux-gnu /)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(ISOMER_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(ISOMER_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${ISOMER_QEMU} -L /usr/aarch64-linux-gnu)
endif()
