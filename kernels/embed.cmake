# SPDX-License-Identifier: Apache-2.0
# cmake -DFROM=FILE -DTO=FILE -DNAME=NAME -P embed.cmake: a C file that holds the text, which is ASCII,
# as an array. PREFIX and HEADER are for texts that are no kernels.
if(NOT DEFINED PREFIX)
  set(PREFIX kernel_text_)
  set(HEADER kernels/texts.h)
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
