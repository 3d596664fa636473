# SPDX-License-Identifier: Apache-2.0
#
# A port for vcpkg that builds the tree it lies in:
#   vcpkg install fermata --overlay-ports=fermata/packaging/vcpkg
#
# vcpkg itself has not run this file: it is not to be had where Fermata is tested. There
# tests/packages/vcpkg_test.py runs it, with functions in place of vcpkg's that do what those
# say they do, on Debian's libraries, and builds a program on what it has installed.

cmake_path(SET fermata_source NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../..")

# Parts whose packages CMake finds are left out when their feature was not asked for. The others are
# found through pkg-config, which knows what vcpkg has installed; and what the system has.
vcpkg_check_features(OUT_FEATURE_OPTIONS fermata_features
  INVERTED_FEATURES
    properties CMAKE_DISABLE_FIND_PACKAGE_rapidcheck
    tool CMAKE_DISABLE_FIND_PACKAGE_CLI11)

vcpkg_cmake_configure(
  SOURCE_PATH "${fermata_source}"
  OPTIONS
    -DFERMATA_INSTALLED_ONLY=ON
    -DFERMATA_WERROR=OFF
    -DCMAKE_UNITY_BUILD=ON
    ${fermata_features})
vcpkg_cmake_install()

vcpkg_cmake_config_fixup(PACKAGE_NAME Fermata CONFIG_PATH lib/cmake/Fermata)
vcpkg_fixup_pkgconfig()
if("tool" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES fermata AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${fermata_source}/LICENSE")
