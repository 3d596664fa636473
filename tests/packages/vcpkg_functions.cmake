# SPDX-License-Identifier: Apache-2.0
#
# In place of vcpkg: the functions that packaging/vcpkg/portfile.cmake calls, as vcpkg documents
# them, on the libraries of the system and for one build type. Runs the port:
#   cmake -D PORT=... -D PLACE=... -D FEATURES=... -P vcpkg_functions.cmake
# installs into PLACE/packages.
cmake_minimum_required(VERSION 3.25)

set(CURRENT_PACKAGES_DIR "${PLACE}/packages")
set(CURRENT_BUILDTREES_DIR "${PLACE}/build")
get_filename_component(CURRENT_PORT_DIR "${PORT}" DIRECTORY)

function(vcpkg_run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(vcpkg_check_features)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUT_FEATURE_OPTIONS" "FEATURES;INVERTED_FEATURES")
  set(options "")
  foreach(kind IN ITEMS FEATURES INVERTED_FEATURES)
    while(arg_${kind})
      list(POP_FRONT arg_${kind} feature option)
      set(value OFF)
      if(feature IN_LIST FEATURES AND kind STREQUAL "FEATURES")
        set(value ON)
      elseif(NOT feature IN_LIST FEATURES AND kind STREQUAL "INVERTED_FEATURES")
        set(value ON)
      endif()
      list(APPEND options "-D${option}=${value}")
    endwhile()
  endforeach()
  set(${arg_OUT_FEATURE_OPTIONS} ${options} PARENT_SCOPE)
endfunction()

function(vcpkg_cmake_configure)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "SOURCE_PATH" "OPTIONS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "vcpkg_cmake_configure: '${arg_UNPARSED_ARGUMENTS}' is not known here")
  endif()
  vcpkg_run("${CMAKE_COMMAND}" -G Ninja -S "${arg_SOURCE_PATH}" -B "${CURRENT_BUILDTREES_DIR}"
    ${arg_OPTIONS} -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=OFF -DCMAKE_INSTALL_LIBDIR=lib
    "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}")
endfunction()

function(vcpkg_cmake_install)
  vcpkg_run("${CMAKE_COMMAND}" --build "${CURRENT_BUILDTREES_DIR}" --target install)
endfunction()

function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "PACKAGE_NAME;CONFIG_PATH" "")
  set(to "${CURRENT_PACKAGES_DIR}/share/${arg_PACKAGE_NAME}")
  file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
  file(RENAME "${CURRENT_PACKAGES_DIR}/${arg_CONFIG_PATH}" "${to}")
  # It is two folders below the prefix now, and not three.
  set(up "get_filename_component(_IMPORT_PREFIX \"\${_IMPORT_PREFIX}\" PATH)\n")
  file(GLOB files "${to}/*.cmake")
  foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(REPLACE "${up}${up}${up}" "${up}${up}" text "${text}")
    string(REPLACE "\${CMAKE_CURRENT_LIST_DIR}/../../../" "\${CMAKE_CURRENT_LIST_DIR}/../../" text
      "${text}")
    file(WRITE "${file}" "${text}")
  endforeach()
endfunction()

function(vcpkg_fixup_pkgconfig)
  file(GLOB modules "${CURRENT_PACKAGES_DIR}/lib/pkgconfig/*.pc")
  if(NOT modules)
    message(FATAL_ERROR "vcpkg_fixup_pkgconfig: there is nothing in lib/pkgconfig")
  endif()
endfunction()

function(vcpkg_copy_tools)
  cmake_parse_arguments(PARSE_ARGV 0 arg "AUTO_CLEAN" "" "TOOL_NAMES")
  foreach(tool IN LISTS arg_TOOL_NAMES)
    file(COPY "${CURRENT_PACKAGES_DIR}/bin/${tool}"
      DESTINATION "${CURRENT_PACKAGES_DIR}/tools/fermata")
  endforeach()
  file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/bin")
endfunction()

function(vcpkg_install_copyright)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "FILE_LIST")
  file(INSTALL ${arg_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/fermata"
    RENAME copyright)
endfunction()

include("${PORT}")
