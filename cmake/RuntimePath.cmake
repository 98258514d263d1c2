# SPDX-License-Identifier: Apache-2.0
# Where programs search for libraries. They are linked with their final path: a path that CMake changes at
# installation is padded with colons until then, and the loader takes an empty element for the working
# directory. The build tree has the same layout as the installed copy, so one path serves both.
file(RELATIVE_PATH isomer_tool_to_library
  ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set(ISOMER_TOOL_FOLDER ${PROJECT_BINARY_DIR}/bench)
set(ISOMER_TOOL_RUNTIME_PATH "$ORIGIN/${isomer_tool_to_library}")
if(isomer_tool_to_library MATCHES "^\\.\\./([^./].*)$")
  set(ISOMER_LIBRARY_FOLDER ${PROJECT_BINARY_DIR}/${CMAKE_MATCH_1})
else()
  set(ISOMER_LIBRARY_FOLDER ${PROJECT_BINARY_DIR}/lib)
  list(APPEND ISOMER_TOOL_RUNTIME_PATH "$ORIGIN/../lib")
endif()

# isomer_runtime_path(TARGET elements...): these, and the folders of what it links where the loader does
# not look by itself (the OpenMP runtime of some compilers).
function(isomer_runtime_path target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${ARGN}" INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()
