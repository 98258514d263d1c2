# SPDX-License-Identifier: Apache-2.0
# embed.cmake - writes a C file that holds an ASCII text as an array: cmake -DFROM=FILE -DTO=FILE
# -DNAME=NAME -P embed.cmake. PREFIX and HEADER are for texts that are not kernels.
if(NOT DEFINED PREFIX)
  set(PREFIX kernel_text_)
  set(HEADER kernel_texts.h)
endif()
file(READ "${FROM}" bytes HEX)
string(LENGTH "${bytes}" length)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n    " bytes "${bytes}")
file(WRITE "${TO}" "/* Made from ${NAME}. */
#include \"${HEADER}\"

const char ${PREFIX}${NAME}[] = {
    ${bytes}0};
")
