# SPDX-License-Identifier: Apache-2.0
# Digest.cmake - isomer_digest(NAME MACRO files...): makes NAME.h for the library, which defines MACRO
# as a digest of the files' contents, whenever one of them changes. Run as a script, it writes that
# header.
if(CMAKE_SCRIPT_MODE_FILE)
  set(all "")
  file(STRINGS ${LIST} files)
  foreach(file IN LISTS files)
    file(SHA256 ${file} one)
    string(APPEND all ${one})
  endforeach()
  string(SHA256 all "${all}")
  string(SUBSTRING ${all} 0 16 all)
  set(text "#define ${MACRO} \"${all}\"\n")
  set(before "")
  if(EXISTS ${OUT})
    file(READ ${OUT} before)
  endif()
  if(NOT before STREQUAL text)
    file(WRITE ${OUT} "${text}")
  endif()
  return()
endif()

set(ISOMER_DIGEST_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(isomer_digest name macro)
  list(SORT ARGN)
  list(JOIN ARGN "\n" lines)
  set(list_file ${CMAKE_CURRENT_BINARY_DIR}/${name}.files)
  file(CONFIGURE OUTPUT ${list_file} CONTENT "${lines}\n" @ONLY)
  add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.h
    COMMAND ${CMAKE_COMMAND} -DOUT=${CMAKE_CURRENT_BINARY_DIR}/${name}.h -DMACRO=${macro}
      -DLIST=${list_file} -P ${ISOMER_DIGEST_SCRIPT}
    DEPENDS ${ARGN} ${list_file} ${ISOMER_DIGEST_SCRIPT}
    VERBATIM)
  add_custom_target(isomer_${name} DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  add_dependencies(isomer isomer_${name})
  target_include_directories(isomer PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
