# SPDX-License-Identifier: Apache-2.0
# packages.cmake - what CPack makes of the components: one Debian package each. packaging/deb.sh
# configures for them, builds them and runs CPack.
set(ISOMER_PACKAGER "The Isomer authors <isomer@packages.example.org>" CACHE STRING
  "Name and address of who makes the packages")
set(ISOMER_PACKAGE_RELEASE 1 CACHE STRING "Debian's revision of the packages")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME isomer)
string(REPLACE "-" "~" CPACK_PACKAGE_VERSION "${ISOMER_VERSION}") # 0.2.0~dev is before 0.2.0
set(CPACK_PACKAGE_CONTACT "${ISOMER_PACKAGER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL library development documentation)
foreach(name openmpi mpich)
  if(TARGET isomer-${name})
    list(APPEND CPACK_COMPONENTS_ALL ${name})
  endif()
endforeach()
if(TARGET isomer-tool)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
if(modules)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE isomer)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${ISOMER_PACKAGE_RELEASE})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${ISOMER_LIBRARY_FOLDER})
set(version ${CPACK_PACKAGE_VERSION}-${ISOMER_PACKAGE_RELEASE})

# isomer_package(COMPONENT NAME SECTION MULTIARCH DESCRIPTION [KEY VALUE]...): CPack's settings of one
# package. Before CPack 3.31 the field Multi-Arch has no setting, so it comes along behind the section.
macro(isomer_package component name section multiarch description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION "${section}\nMulti-Arch: ${multiarch}")
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  set(fields ${ARGN})
  while(fields)
    list(POP_FRONT fields key value)
    set(CPACK_DEBIAN_${upper}_PACKAGE_${key} "${value}")
  endwhile()
endmacro()

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(title "C API for matrices on GPUs and CPUs")
set(about "\nIsomer moves memory, transposes, reduces and multiplies matrices through one\n\
C API on CUDA, HIP, OpenCL and CPU devices, whose libraries it opens at run\ntime.\n")
# What is linked, dpkg-shlibdeps finds; what is opened at run time is recommended or suggested.
isomer_package(library libisomer0 libs same "${title} - library${about}
This package has the library, its helper program and measured tables."
  SHLIBDEPS ON RECOMMENDS libopenblas0
  SUGGESTS "ocl-icd-libopencl1 | libopencl1, pocl-opencl-icd | opencl-icd, libclblast1, gcc | c-compiler")
isomer_package(development libisomer-dev libdevel same "${title} - development files${about}
This package has the headers, the static library, and files for CMake and
pkg-config."
  DEPENDS "libisomer0 (= ${version}), libc6-dev" RECOMMENDS "isomer (= ${version})"
  SUGGESTS "isomer-doc, pkgconf | pkg-config")
isomer_package(tool isomer science foreign "verify and measure matrix operations on GPUs and CPUs${about}
This package has the tool, which lists devices, verifies all operations on them
by one definition of the results, and measures them."
  SHLIBDEPS ON DEPENDS "libisomer0 (= ${version})" RECOMMENDS "libcairo2, libsqlite3-0"
  SUGGESTS "isomer-doc, gcc | c-compiler")
isomer_package(documentation isomer-doc doc foreign "${title} - documentation${about}
This package has the pages for users, and example programs."
  ARCHITECTURE all)
isomer_package(openmpi libisomer0-openmpi libs same "${title} - Open MPI${about}
This package has the plug-in that moves data between processes by Open MPI."
  SHLIBDEPS ON DEPENDS "libisomer0 (= ${version})" SUGGESTS openmpi-bin)
isomer_package(mpich libisomer0-mpich libs same "${title} - MPICH${about}
This package has the plug-in that moves data between processes by MPICH."
  SHLIBDEPS ON DEPENDS "libisomer0 (= ${version})" SUGGESTS mpich)
isomer_package(python python3-isomer python foreign "${title} - Python module${about}
This package has the module isomer of Python 3."
  ARCHITECTURE all DEPENDS "python3:any, libisomer0 (>= ${version})" RECOMMENDS python3-numpy SUGGESTS isomer-doc)

# Programs built against this library need no older one: the API may grow before 1.0.
file(WRITE ${PROJECT_BINARY_DIR}/deb/shlibs
  "libisomer ${PROJECT_VERSION_MAJOR} libisomer0 (>= ${CPACK_PACKAGE_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/deb/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/deb/shlibs;${PROJECT_BINARY_DIR}/deb/triggers")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/deb/python/postinst;${PROJECT_SOURCE_DIR}/packaging/deb/python/prerm")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_STRICT_PERMISSION ON)
configure_file(packaging/deb/changelog ${PROJECT_BINARY_DIR}/deb/changelog @ONLY)

# The rest of what Debian wants is not part of an ordinary installation.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb/finish.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb/repack.cmake)
set(CPACK_ISOMER_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_ISOMER_BINARY ${PROJECT_BINARY_DIR})
set(CPACK_ISOMER_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_ISOMER_STRIP ${CMAKE_STRIP})
include(CPack)
