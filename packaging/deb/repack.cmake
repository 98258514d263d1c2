# SPDX-License-Identifier: Apache-2.0
# repack.cmake - CPack runs this after it made the packages. It gives a package with a library scripts that call
# ldconfig, which Debian's policy does not want: the trigger does that.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  set(open ${package}.d)
  execute_process(COMMAND dpkg-deb --raw-extract ${package} ${open} COMMAND_ERROR_IS_FATAL ANY)
  set(script "")
  if(EXISTS ${open}/DEBIAN/postinst)
    file(READ ${open}/DEBIAN/postinst script)
  endif()
  if(script MATCHES "ldconfig")
    file(REMOVE ${open}/DEBIAN/postinst ${open}/DEBIAN/postrm)
    execute_process(COMMAND dpkg-deb --root-owner-group -Zxz --build ${open} ${package} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(REMOVE_RECURSE ${open})
endforeach()
