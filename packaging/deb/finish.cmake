# SPDX-License-Identifier: Apache-2.0
# finish.cmake - CPack runs this between installing the components and making packages of them. It adds and
# changes what Debian's policy wants and an ordinary installation does not have.
# Not file(INSTALL): CPack sets DESTDIR.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
  if(NOT IS_DIRECTORY ${root}/usr)
    message(FATAL_ERROR "${root}/usr does not exist: the component ${component} was not installed there")
  endif()
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(here ${root}/usr/share/doc/${package})
  file(COPY ${CPACK_ISOMER_SOURCE}/packaging/deb/copyright ${CPACK_ISOMER_BINARY}/deb/changelog DESTINATION ${here}
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(RENAME ${here}/changelog ${here}/changelog.Debian)
  set(compressed ${here}/changelog.Debian)
  # zsh of Debian searches vendor-completions.
  if(EXISTS ${root}/usr/share/zsh/site-functions)
    file(RENAME ${root}/usr/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)
  endif()
  file(GLOB pages ${root}/usr/share/man/man*/*)
  list(APPEND compressed ${pages})
  foreach(file IN LISTS compressed)
    execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  # The text of the licence is in Debian's base.
  if(EXISTS ${root}/usr/share/doc/isomer/LICENSE)
    file(REMOVE ${root}/usr/share/doc/isomer/LICENSE)
    file(CREATE_LINK ../../common-licenses/Apache-2.0 ${root}/usr/share/doc/isomer/LICENSE SYMBOLIC)
  endif()
  file(GLOB_RECURSE archives ${root}/usr/${CPACK_ISOMER_LIBDIR}/*.a)
  file(GLOB_RECURSE linked ${root}/usr/bin/* ${root}/usr/${CPACK_ISOMER_LIBDIR}/*.so.* ${root}/usr/${CPACK_ISOMER_LIBDIR}/isomer/*.so
    ${root}/usr/${CPACK_ISOMER_LIBDIR}/isomer-try)
  foreach(file IN LISTS archives linked)
    set(how --strip-unneeded)
    if(file MATCHES "[.]a$")
      set(how --strip-debug)
    endif()
    if(NOT IS_SYMLINK ${file})
      execute_process(COMMAND ${CPACK_ISOMER_STRIP} ${how} -R .comment -R .note ${file} COMMAND_ERROR_IS_FATAL ANY)
    endif()
  endforeach()
  set(overrides ${CPACK_ISOMER_SOURCE}/packaging/deb/${package}.lintian-overrides)
  if(EXISTS ${overrides})
    file(COPY ${overrides} DESTINATION ${root}/usr/share/lintian/overrides
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    file(RENAME ${root}/usr/share/lintian/overrides/${package}.lintian-overrides
      ${root}/usr/share/lintian/overrides/${package})
  endif()
endforeach()
