# SPDX-License-Identifier: Apache-2.0
# The packages that the build needs, as targets, with errors that name what to install.
#
#   isomer_xxhash    the header alone
#   isomer_jansson   static (the tool)
#   isomer_cmocka    (the tests)

function(isomer_need_header variable header package)
  find_path(${variable} ${header})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${header} not found: install ${package} (Debian, Ubuntu: "
      "apt-get install ${package}), or give its folder with -D${variable}=DIR")
  endif()
endfunction()

function(isomer_need_library variable name package)
  find_library(${variable} NAMES ${name})
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${name} not found: install ${package} (Debian, Ubuntu: "
      "apt-get install ${package}), or give the file with -D${variable}=FILE")
  endif()
endfunction()

find_package(Threads REQUIRED)

find_package(OpenMP COMPONENTS C)
if(NOT OpenMP_C_FOUND)
  message(FATAL_ERROR "The C compiler ${CMAKE_C_COMPILER} has no OpenMP: with gcc it comes along; "
    "for clang install libomp-dev (Debian, Ubuntu: apt-get install libomp-dev)")
endif()

isomer_need_header(XXHASH_INCLUDE_DIR xxhash.h libxxhash-dev)
add_library(isomer_xxhash INTERFACE)
target_include_directories(isomer_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})

if(ISOMER_TOOL)
  isomer_need_header(JANSSON_INCLUDE_DIR jansson.h libjansson-dev)
  isomer_need_library(JANSSON_STATIC_LIBRARY libjansson.a libjansson-dev)
  add_library(isomer_jansson INTERFACE)
  target_include_directories(isomer_jansson SYSTEM INTERFACE ${JANSSON_INCLUDE_DIR})
  target_link_libraries(isomer_jansson INTERFACE ${JANSSON_STATIC_LIBRARY})
endif()

if(ISOMER_TESTS)
  isomer_need_header(CMOCKA_INCLUDE_DIR cmocka.h libcmocka-dev)
  isomer_need_library(CMOCKA_LIBRARY cmocka libcmocka-dev)
  add_library(isomer_cmocka INTERFACE)
  target_include_directories(isomer_cmocka SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIR})
  target_link_libraries(isomer_cmocka INTERFACE ${CMOCKA_LIBRARY})
endif()
