# SPDX-License-Identifier: Apache-2.0
# The archive that packaging/source.sh makes. A release is taken with vcpkg_from_github or vcpkg_download_distfile.
vcpkg_extract_source_archive(SOURCE_PATH
  ARCHIVE "${CURRENT_PORT_DIR}/../../../build/dist/isomer-${VERSION}.tar.gz")

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES tool ISOMER_TOOL)
string(COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" static static)
if("tool" IN_LIST FEATURES) # is not there with static libraries
  list(APPEND options "-DJANSSON_STATIC_LIBRARY=${CURRENT_INSTALLED_DIR}/lib/libjansson.so")
endif()
# The helper program lies with the plug-ins, because vcpkg has no libexec.
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} -DISOMER_TESTS=OFF -DISOMER_STATIC=${static} -DISOMER_OPENMPI=OFF -DISOMER_MPICH=OFF
    -DCMAKE_INSTALL_LIBEXECDIR=lib)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/Isomer)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES isomer AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
if(static) # Isomer::isomer is then the static library
  file(GLOB shared "${CURRENT_PACKAGES_DIR}/lib/libisomer.so*" "${CURRENT_PACKAGES_DIR}/debug/lib/libisomer.so*"
    "${CURRENT_PACKAGES_DIR}/share/isomer/IsomerTargets*.cmake")
  file(REMOVE ${shared})
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
