# SPDX-License-Identifier: Apache-2.0
# Reference.cmake - what users read: the pages of the guide, manual pages of section 3, which are made
# of the public headers with the build, and the target `reference`, which makes one site of HTML of
# the headers and the pages. docs/reference has the programs.

# In the order of the site; the first is its main page. All are installed.
set(ISOMER_PAGES first-steps coming-from-cuda coming-from-hipblas coming-from-cupy troubleshooting kernels graphs variants
  interop python sparse gemv scaling labs bits tuning benchmarking results reveal security adding-a-backend packages)
list(TRANSFORM ISOMER_PAGES PREPEND docs/)
list(TRANSFORM ISOMER_PAGES APPEND .md)

find_program(ISOMER_PYTHON python3 HINTS /usr/bin)
find_program(ISOMER_DOXYGEN doxygen)
file(GLOB ISOMER_HEADERS CONFIGURE_DEPENDS include/isomer/*.h)
file(GLOB ISOMER_REFERENCE docs/reference/*)

if(ISOMER_PYTHON)
  set(folder ${PROJECT_BINARY_DIR}/installed/man3)
  add_custom_command(OUTPUT ${folder}.stamp
    COMMAND ${ISOMER_PYTHON} -B ${PROJECT_SOURCE_DIR}/docs/reference/manual.py ${PROJECT_SOURCE_DIR}/include/isomer
      ${folder} ${ISOMER_VERSION}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}.stamp
    DEPENDS ${ISOMER_HEADERS} ${ISOMER_REFERENCE}
    COMMENT "Manual pages of the public headers" VERBATIM)
  add_custom_target(isomer-manual ALL DEPENDS ${folder}.stamp)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT development OPTIONAL
    FILES_MATCHING PATTERN "*.3")
else()
  message(STATUS "python3 was not found: no manual pages of section 3 are made (the headers have the same text)")
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
if(ISOMER_PYTHON AND ISOMER_DOXYGEN)
  file(GLOB backends RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/backends/*.md)
  set(FOLDER ${PROJECT_BINARY_DIR}/reference)
  configure_file(docs/reference/Doxyfile.in ${FOLDER}/Doxyfile @ONLY)
  add_custom_target(reference
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${FOLDER}/in ${FOLDER}/html
    COMMAND ${ISOMER_PYTHON} -B ${PROJECT_SOURCE_DIR}/docs/reference/site.py ${PROJECT_SOURCE_DIR} ${FOLDER}/in
      ${ISOMER_PAGES} ${backends} docs/ci/README.md
    COMMAND ${ISOMER_DOXYGEN} ${FOLDER}/Doxyfile
    COMMAND ${CMAKE_COMMAND} -E echo "The reference: ${FOLDER}/html/index.html"
    VERBATIM)
else()
  add_custom_target(reference
    COMMAND ${CMAKE_COMMAND} -E echo
      "The target reference needs doxygen and python3 (Debian, Ubuntu: apt-get install doxygen python3): install them and run cmake again"
    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
