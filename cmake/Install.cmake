# SPDX-License-Identifier: Apache-2.0
# Install.cmake - cmake --install: the library, the headers, the tool, its manual pages, and what
# find_package(Isomer) and pkg-config need. Every part finds the others by relative paths, so the
# prefix can be moved. Each file belongs to one component: library, openmpi, mpich, development, tool,
# python or documentation (docs/packages.md).
include(CMakePackageConfigHelpers)

set(ISOMER_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Isomer)

install(TARGETS isomer EXPORT IsomerTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/isomer DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE CHANGELOG.md SECURITY.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)
# The pages for users of an installed copy. Pages about the source tree (tests, design, performance,
# bench/results) are not installed.
install(FILES ${ISOMER_PAGES} DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT documentation)
install(DIRECTORY docs/backends docs/ci docs/schema DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs
  COMPONENT documentation
  FILES_MATCHING PATTERN "*.md" PATTERN "*.yml" PATTERN "*.py" PATTERN "*.json")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
  FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.isk" PATTERN "*.json" PATTERN "*.py" PATTERN "*.ipynb" PATTERN "CMakeLists.txt"
  PATTERN "Makefile")
# The installed README: where everything is, then the parts of the tree's README about using it.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS README.md docs/installed.md.in)
file(READ docs/installed.md.in places)
string(CONFIGURE "${places}" places @ONLY)
file(READ README.md readme)
set(use "")
foreach(part "A program;Figures" "What it does;Limits")
  list(GET part 0 first)
  list(GET part 1 behind)
  string(FIND "${readme}" "## ${first}\n" from)
  string(FIND "${readme}" "## ${behind}\n" to)
  if(from LESS 0 OR to LESS from)
    message(FATAL_ERROR "README.md has no parts \"${first}\" to \"${behind}\"")
  endif()
  math(EXPR length "${to} - ${from}")
  string(SUBSTRING "${readme}" ${from} ${length} text)
  string(APPEND use "${text}")
endforeach()
file(WRITE ${PROJECT_BINARY_DIR}/installed/README.md "${places}${use}")
install(FILES ${PROJECT_BINARY_DIR}/installed/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation)
# Tables of measured choices, which the library finds beside itself.
file(GLOB tables CONFIGURE_DEPENDS tuned/*.tuned)
install(FILES ${tables} DESTINATION ${CMAKE_INSTALL_LIBDIR}/isomer/tuned COMPONENT library)
install(DIRECTORY docs/schema/ DESTINATION ${CMAKE_INSTALL_DATADIR}/isomer/schema COMPONENT tool
  FILES_MATCHING PATTERN "*.json")

if(TARGET isomer-tool)
  install(TARGETS isomer-tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
  file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR}/docs/man CONFIGURE_DEPENDS docs/man/*.[15])
  foreach(page IN LISTS pages)
    configure_file(docs/man/${page} ${PROJECT_BINARY_DIR}/installed/man/${page} @ONLY)
    string(REGEX REPLACE ".*\\." "" section ${page})
    install(FILES ${PROJECT_BINARY_DIR}/installed/man/${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section}
      COMPONENT tool)
  endforeach()
  install(FILES completions/isomer.bash RENAME isomer
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
  install(FILES completions/_isomer DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
  install(FILES completions/isomer.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    COMPONENT tool)
endif()

# The Python module, if it is in the tree. It opens libisomer.so.0 at run time.
set(ISOMER_PYTHON_DIR lib/python3/dist-packages CACHE STRING
  "Folder of Python's modules, relative to the prefix or absolute, such as lib/python3.13/site-packages")
file(GLOB modules CONFIGURE_DEPENDS python/isomer/*.py python/isomer/py.typed)
if(modules)
  install(FILES ${modules} DESTINATION ${ISOMER_PYTHON_DIR}/isomer COMPONENT python)
endif()

install(EXPORT IsomerTargets NAMESPACE Isomer:: DESTINATION ${ISOMER_CONFIG_DIR} COMPONENT development)
if(TARGET isomer_static)
  install(TARGETS isomer_static EXPORT IsomerStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT IsomerStaticTargets NAMESPACE Isomer:: DESTINATION ${ISOMER_CONFIG_DIR}
    COMPONENT development)
endif()
configure_package_config_file(cmake/IsomerConfig.cmake.in IsomerConfig.cmake
  INSTALL_DESTINATION ${ISOMER_CONFIG_DIR}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/IsomerConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/IsomerConfig.cmake ${PROJECT_BINARY_DIR}/IsomerConfigVersion.cmake
  cmake/IsomerKernels.cmake cmake/IsomerPortability.cmake DESTINATION ${ISOMER_CONFIG_DIR} COMPONENT development)
install(PROGRAMS cmake/isomer-portability.sh DESTINATION ${ISOMER_CONFIG_DIR} COMPONENT development)

file(RELATIVE_PATH ISOMER_PC_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" ISOMER_PC_TO_PREFIX "${ISOMER_PC_TO_PREFIX}")
list(TRANSFORM ISOMER_STATIC_NEEDS PREPEND -l OUTPUT_VARIABLE ISOMER_PC_PRIVATE)
list(JOIN ISOMER_PC_PRIVATE " " ISOMER_PC_PRIVATE)
configure_file(cmake/isomer.pc.in isomer.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/isomer.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)
