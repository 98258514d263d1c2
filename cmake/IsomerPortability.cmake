# SPDX-License-Identifier: Apache-2.0
# isomer_add_portability_test: runs a project's own test program once for each backend.
#
#   isomer_add_portability_test(NAME name COMMAND program [argument...]
#     [BACKENDS backend...]     default: cuda hip opencl openmp; specs such as opencl:1 work too
#     [REQUIRE backend...]      these fail if they are not available; so do those that the
#                               variable ISOMER_REQUIRE names when the tests run
#     [SAME_OUTPUT]             what the program prints must be the same on every backend
#     [TOLERANCE number]        ... but numbers may differ by this fraction of the greater one (1e-6)
#     [ENVIRONMENT NAME=value...] [LABELS label...] [TIMEOUT seconds] [WORKING_DIRECTORY folder])
#
# It adds the tests name.cuda, name.hip, ... and, with SAME_OUTPUT, name.same. Each runs with
# ISOMER_BACKEND set to its backend. A test is skipped if its backend or device is not available, or if
# the program ends with 77, unless the backend is required. A label that ctest prints gives the reason.
# A name that no backend has, also in ISOMER_REQUIRE, is a failure. name.same is skipped if fewer than
# two backends ran.
# Labels: `portability`, the backend, and your own. docs/ci/README.md has more.
include_guard(GLOBAL)

function(isomer_add_portability_test)
  cmake_parse_arguments(PARSE_ARGV 0 test "SAME_OUTPUT" "NAME;TIMEOUT;TOLERANCE;WORKING_DIRECTORY"
    "COMMAND;BACKENDS;REQUIRE;ENVIRONMENT;LABELS")
  if(test_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "isomer_add_portability_test: unknown arguments: ${test_UNPARSED_ARGUMENTS}")
  endif()
  if(test_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
      "isomer_add_portability_test: arguments without a value: ${test_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT test_NAME OR NOT test_COMMAND)
    message(FATAL_ERROR "isomer_add_portability_test needs NAME and COMMAND")
  endif()
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/isomer-portability.sh)
  if(TARGET isomer-tool) # by add_subdirectory or FetchContent, where ISOMER_TOOL is an option
    set(tool $<TARGET_FILE:isomer-tool>)
  elseif(ISOMER_TOOL)
    set(tool ${ISOMER_TOOL})
  else()
    message(FATAL_ERROR "isomer_add_portability_test needs the isomer tool, and it was not found or is not "
      "built (ISOMER_TOOL is \"${ISOMER_TOOL}\"); set ISOMER_TOOL to its path, or to ON where isomer is built here")
  endif()
  if(NOT test_TOLERANCE)
    set(test_TOLERANCE 0)
  elseif(NOT test_SAME_OUTPUT)
    message(FATAL_ERROR "isomer_add_portability_test: TOLERANCE belongs to SAME_OUTPUT")
  elseif(NOT test_TOLERANCE MATCHES "^0?[.][0-9]*[1-9][0-9]*$|^[0-9]+([.][0-9]+)?[eE]-[0-9]+$")
    message(FATAL_ERROR "isomer_add_portability_test: TOLERANCE is a part of a number, such as 1e-6 or "
      "0.001, not \"${test_TOLERANCE}\"")
  endif()
  if(NOT test_BACKENDS)
    set(test_BACKENDS cuda hip opencl openmp)
  endif()
  list(JOIN test_REQUIRE "," required)
  set(command "")
  foreach(word IN LISTS test_COMMAND)
    if(command STREQUAL "" AND TARGET "${word}")
      set(word $<TARGET_FILE:${word}>)
    endif()
    string(REPLACE ";" "\\;" word "${word}") # or it would become two
    list(APPEND command "${word}")
  endforeach()
  set(kept ${CMAKE_CURRENT_BINARY_DIR}/${test_NAME}.outputs)
  set(names "")
  set(outputs "")
  foreach(backend IN LISTS test_BACKENDS)
    if(backend MATCHES "," OR backend STREQUAL "all" OR backend STREQUAL "auto")
      message(FATAL_ERROR "isomer_add_portability_test: BACKENDS are named one by one, not \"${backend}\"")
    endif()
    string(MAKE_C_IDENTIFIER "${backend}" word)
    set(name ${test_NAME}.${word})
    list(APPEND names ${name})
    list(APPEND outputs ${kept}/${word})
    add_test(NAME ${name} COMMAND sh ${script} run ${tool} "${backend}"
      "${required}" ${kept}/${word} ${command})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
      LABELS "portability;${word};${test_LABELS}" ENVIRONMENT "${test_ENVIRONMENT}")
  endforeach()
  if(test_SAME_OUTPUT)
    add_test(NAME ${test_NAME}.same COMMAND sh ${script} same ${test_TOLERANCE} ${outputs})
    set_tests_properties(${test_NAME}.same PROPERTIES SKIP_RETURN_CODE 77
      LABELS "portability;${test_LABELS}" DEPENDS "${names}")
  endif()
  if(test_TIMEOUT)
    set_tests_properties(${names} PROPERTIES TIMEOUT ${test_TIMEOUT})
  endif()
  if(test_WORKING_DIRECTORY)
    set_tests_properties(${names} PROPERTIES WORKING_DIRECTORY ${test_WORKING_DIRECTORY})
  endif()
endfunction()
