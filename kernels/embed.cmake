# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=FILE -DTO=FILE -DNAME=NAME -P embed.cmake: a C file that holds the text as an array.
file(READ "${FROM}" bytes HEX)
string(LENGTH "${bytes}" length)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
  "\\1\n    " bytes "${bytes}")
file(WRITE "${TO}" "/* Made from ${NAME}. */
#include <kernels/texts.h>

const char kernel_text_${NAME}[] = {
    ${bytes}0};
")
