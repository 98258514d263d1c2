# SPDX-License-Identifier: Apache-2.0
# isomer_add_kernels: compiles texts of kernels into a target, so that the program needs no compiler
# at run time on a CPU.
#
#   isomer_add_kernels(TARGET target FILES first.isk [more.isk...]
#     [DEFINITIONS NAME=value...]   macros for the texts
#     [FLAGS flag...]               that the C compiler needs for its target
#     [SETS set...]                 instruction sets; default: those of ISOMER_KERNEL_SETS, or all that
#                                   the compiler has
#     [NAME id])                    the table's name, for a text that the target embeds twice with
#                                   other macros; then FILES is one file and its header id/first.isk.h
#
# The target, of this folder, and those that link it may then include first.isk.h, which declares the iso_embedded first_isk
# for iso_program_args.embedded (isomer/program.h). The texts are compiled again when they, the tool or
# the library change. The target's own options are not used: they could change the kernels' bits.
#
# The isomer tool runs during the build. To compile for another processor, set ISOMER_HOST_TOOL to an
# isomer of the same version that runs here.
include_guard(GLOBAL)

function(isomer_kernels_tool tool depends)
  if(ISOMER_HOST_TOOL)
    set(${tool} ${ISOMER_HOST_TOOL} PARENT_SCOPE)
    set(${depends} ${ISOMER_HOST_TOOL} PARENT_SCOPE)
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "isomer_add_kernels runs the isomer tool, and this build is for another processor: "
      "set ISOMER_HOST_TOOL to an isomer of the same version that runs here")
  elseif(TARGET isomer-embedder) # by add_subdirectory or FetchContent, where ISOMER_TOOL is an option
    set(${tool} ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:isomer-embedder> PARENT_SCOPE)
    set(${depends} isomer-embedder isomer PARENT_SCOPE)
  elseif(ISOMER_TOOL)
    set(${tool} ${CMAKE_CROSSCOMPILING_EMULATOR} ${ISOMER_TOOL} PARENT_SCOPE)
    set(${depends} ${ISOMER_TOOL} $<TARGET_FILE:Isomer::isomer> PARENT_SCOPE)
  else()
    message(FATAL_ERROR "isomer_add_kernels needs the isomer tool, and it was not found or is not built "
      "(ISOMER_TOOL is \"${ISOMER_TOOL}\"); set ISOMER_HOST_TOOL to its path")
  endif()
endfunction()

# The C compiler, or the C++ compiler of a project without C, and what it needs to know of the target.
function(isomer_kernels_compiler compiler flags)
  set(language C)
  if(NOT CMAKE_C_COMPILER)
    set(language CXX)
  endif()
  if(NOT CMAKE_${language}_COMPILER)
    message(FATAL_ERROR "isomer_add_kernels: enable the language C or CXX in project()")
  endif()
  set(found "")
  if(CMAKE_${language}_COMPILER_TARGET)
    list(APPEND found --target=${CMAKE_${language}_COMPILER_TARGET})
  endif()
  if(CMAKE_${language}_COMPILER_EXTERNAL_TOOLCHAIN)
    list(APPEND found --gcc-toolchain=${CMAKE_${language}_COMPILER_EXTERNAL_TOOLCHAIN})
  endif()
  if(CMAKE_SYSROOT)
    list(APPEND found --sysroot=${CMAKE_SYSROOT})
  endif()
  separate_arguments(first UNIX_COMMAND "${CMAKE_${language}_COMPILER_ARG1}")
  set(${compiler} ${CMAKE_${language}_COMPILER} PARENT_SCOPE)
  set(${flags} ${first} ${found} PARENT_SCOPE)
endfunction()

function(isomer_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 add "" "TARGET;NAME" "FILES;DEFINITIONS;FLAGS;SETS")
  if(add_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "isomer_add_kernels: unknown arguments: ${add_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT add_TARGET OR NOT add_FILES)
    message(FATAL_ERROR "isomer_add_kernels needs TARGET and FILES")
  endif()
  list(LENGTH add_FILES count)
  if(add_NAME AND count GREATER 1)
    message(FATAL_ERROR "isomer_add_kernels: NAME ${add_NAME} is for one file, and FILES has ${count}: call this "
      "once for each")
  endif()
  if(NOT TARGET ${add_TARGET})
    message(FATAL_ERROR "isomer_add_kernels: there is no target ${add_TARGET}: add it first")
  endif()
  get_target_property(home ${add_TARGET} SOURCE_DIR)
  if(NOT home STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    message(FATAL_ERROR "isomer_add_kernels: ${add_TARGET} is of ${home}: call this there, because a "
      "target's sources are made in its own folder")
  endif()
  if(NOT DEFINED add_SETS)
    set(add_SETS ${ISOMER_KERNEL_SETS})
  endif()
  isomer_kernels_tool(tool depends)
  isomer_kernels_compiler(compiler flags)
  list(APPEND flags ${add_FLAGS})
  list(JOIN flags " " flags)
  list(JOIN add_SETS "," sets)
  set(options --cc ${compiler})
  foreach(macro IN LISTS add_DEFINITIONS)
    list(APPEND options --define ${macro})
  endforeach()
  foreach(option flags sets)
    if(NOT "${${option}}" STREQUAL "")
      string(REPLACE flags cflags name ${option})
      list(APPEND options --${name} "${${option}}")
    endif()
  endforeach()
  set(above ${CMAKE_CURRENT_BINARY_DIR}/isomer_kernels/${add_TARGET})
  set(folder ${above})
  if(add_NAME)
    set(folder ${above}/${add_NAME})
    list(APPEND options --name ${add_NAME})
  endif()
  file(MAKE_DIRECTORY ${folder})
  foreach(file IN LISTS add_FILES)
    get_filename_component(file ${file} ABSOLUTE)
    get_filename_component(name ${file} NAME)
    get_source_file_property(made ${file} GENERATED)
    if(NOT EXISTS ${file} AND NOT made)
      message(FATAL_ERROR "isomer_add_kernels: there is no file ${file}")
    endif()
    add_custom_command(OUTPUT ${folder}/${name}.o ${folder}/${name}.h
      COMMAND ${tool} kernel embed ${file} --output ${folder} ${options}
      DEPENDS ${file} ${depends}
      COMMENT "Compiling the kernels of ${name}" VERBATIM)
    target_sources(${add_TARGET} PRIVATE ${folder}/${name}.o ${folder}/${name}.h)
    set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  endforeach()
  target_include_directories(${add_TARGET} PRIVATE ${above})
  set_property(TARGET ${add_TARGET} APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES $<BUILD_INTERFACE:${above}>)
  # fma, where an instruction set has none. Properties, because either signature of
  # target_link_libraries could be the one that the project does not use.
  set_property(TARGET ${add_TARGET} APPEND PROPERTY LINK_LIBRARIES m)
  set_property(TARGET ${add_TARGET} APPEND PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:m>)
endfunction()
