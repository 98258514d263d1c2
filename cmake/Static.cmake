# SPDX-License-Identifier: Apache-2.0
# Static.cmake - libisomer.a, from the objects of the shared library. They are first linked into one object
# in which all hidden names become local: a program gets iso_* and no other name, and the linker takes
# all of it, the built-in backends too, or nothing.
#
# A program that links it needs these, which the shared library brings along by itself.
set(ISOMER_STATIC_NEEDS ${OpenMP_C_LIB_NAMES} ${CMAKE_DL_LIBS} m)
list(REMOVE_DUPLICATES ISOMER_STATIC_NEEDS)

# A sanitizer's runtime belongs to the program, and objects for link-time optimization have no names yet.
if(NOT ISOMER_STATIC OR ISOMER_SANITIZE OR CMAKE_C_FLAGS MATCHES "-flto")
  return()
endif()
if(NOT CMAKE_OBJCOPY)
  message(STATUS "no libisomer.a: objcopy was not found (Debian, Ubuntu: apt-get install binutils)")
  return()
endif()

get_property(parts GLOBAL PROPERTY ISOMER_OBJECTS)
set(objects "")
foreach(part isomer ${parts})
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()
set(list_file ${PROJECT_BINARY_DIR}/isomer-static.objects)
file(GENERATE OUTPUT ${list_file} CONTENT "\"$<JOIN:${objects},\"\n\">\"\n")
set(whole ${PROJECT_BINARY_DIR}/isomer-static.o)
add_custom_command(OUTPUT ${whole}
  COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${whole} @${list_file} $<TARGET_FILE:isomer_common>
  COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${whole}
  DEPENDS isomer isomer_common ${objects} ${list_file}
  COMMENT "Linking the objects of libisomer.a" VERBATIM)
add_library(isomer_static STATIC ${whole})
set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set_target_properties(isomer_static PROPERTIES OUTPUT_NAME isomer LINKER_LANGUAGE C
  ARCHIVE_OUTPUT_DIRECTORY $<1:${ISOMER_LIBRARY_FOLDER}>)
target_include_directories(isomer_static PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(isomer_static INTERFACE ${ISOMER_STATIC_NEEDS})
add_library(Isomer::isomer_static ALIAS isomer_static)
