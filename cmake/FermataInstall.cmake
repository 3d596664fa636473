# SPDX-License-Identifier: Apache-2.0
#
# Installs the libraries, their headers in the layout they are included by, the tool `fermata`, a
# CMake package `Fermata` with each library as a component and fermata_discover_tests(), and
# pkg-config files fermata-runtime, fermata-uv, fermata-poll ... What a library needs is what it
# links.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(FERMATA_LIBRARIES GLOBAL PROPERTY FERMATA_LIBRARIES)
get_property(FERMATA_HEADERS GLOBAL PROPERTY FERMATA_HEADERS)

# What has to be built to be installed; tests and examples have not.
add_custom_target(fermata_installed)
list(TRANSFORM FERMATA_LIBRARIES PREPEND fermata_ OUTPUT_VARIABLE library_targets)
add_dependencies(fermata_installed ${library_targets})
if(TARGET fermata)
  add_dependencies(fermata_installed fermata)
  install(TARGETS fermata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET fermata_manual)
  add_dependencies(fermata_installed fermata_manual)
  get_target_property(manual_folder fermata BINARY_DIR)
  install(FILES "${manual_folder}/fermata.man" RENAME fermata.1
          DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES "${manual_folder}/fermata.bash" RENAME fermata
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES "${manual_folder}/fermata.zsh" RENAME _fermata
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES "${manual_folder}/fermata.fish"
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(CODE "
  set(FERMATA_ROOTS \"${PROJECT_SOURCE_DIR}/runtime\" \"${PROJECT_SOURCE_DIR}/sim\")
  set(FERMATA_HEADERS ${FERMATA_HEADERS})
  set(FERMATA_INCLUDE \"\${CMAKE_INSTALL_PREFIX}/include\")
  include(\"${CMAKE_CURRENT_LIST_DIR}/InstallHeaders.cmake\")")

install(FILES "${PROJECT_SOURCE_DIR}/runtime/gdb/fermata.py"
              "${PROJECT_SOURCE_DIR}/sim/gdb/fermata_replay.py"
              "${PROJECT_SOURCE_DIR}/sim/gdb/fermata_writes.py"
              "${PROJECT_SOURCE_DIR}/sim/gdb/fermata_why.py"
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fermata)

# fermata_needs(<library> <result>): the other libraries and the targets of packages that it links.
function(fermata_needs library result)
  get_target_property(linked fermata_${library} LINK_LIBRARIES)
  list(FILTER linked EXCLUDE REGEX "BUILD_INTERFACE")
  list(TRANSFORM linked REPLACE "^fermata_" "fermata::")
  list(REMOVE_DUPLICATES linked)
  # Those that need packages come before the packages.
  set(libraries ${linked})
  list(FILTER libraries INCLUDE REGEX "^fermata::")
  list(FILTER linked EXCLUDE REGEX "^fermata::")
  set(${result} ${libraries} ${linked} PARENT_SCOPE)
endfunction()

# --- the CMake package ---

# One file of targets for each, so that nothing is looked for but what a component needs.
set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Fermata")
set(FERMATA_NEEDS "")
foreach(library IN LISTS FERMATA_LIBRARIES)
  install(TARGETS fermata_${library} EXPORT fermata_${library}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT fermata_${library} NAMESPACE fermata::
          FILE Fermata-${library}.cmake DESTINATION ${package_folder})
  fermata_needs(${library} needs)
  string(APPEND FERMATA_NEEDS "set(fermata_needs_${library} ${needs})\n")
  foreach(need IN LISTS needs)
    if(need MATCHES "^PkgConfig::(.*)")
      string(APPEND FERMATA_NEEDS "set(fermata_module_${CMAKE_MATCH_1} "
        "${${CMAKE_MATCH_1}_MODULE_NAME})\n")
    endif()
  endforeach()
endforeach()
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/FermataConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/FermataConfig.cmake" INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/FermataConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_LIST_DIR}/FermataDiscoverTests.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/FermataListTests.cmake" DESTINATION ${package_folder})
install(FILES "${PROJECT_BINARY_DIR}/FermataConfig.cmake"
              "${PROJECT_BINARY_DIR}/FermataConfigVersion.cmake" DESTINATION ${package_folder})

# --- pkg-config ---

set(description_runtime "coroutines, events and scheduler")
set(description_uv "the reactor on libuv")
set(description_uring "the reactor on io_uring")
set(description_poll "reactors on libev, libevent, ppoll, pselect and epoll")
set(description_host "guests in loops of others")
set(description_loop "the event loop of callbacks")
set(description_drivers "the reactors to choose from")
set(description_db "a database that coroutines share")
set(description_db_drivers "the databases to choose from")
set(description_sim "the deterministic simulator")
set(description_sim_property "simulated tests with generated arguments")
set(description_sim_db "a database in a simulated machine")
set(description_sim_main "the simulator's main()")
set(description_fuzz_main "the main() of simulated tests that replay a fuzzer's inputs")
set(description_libfuzzer_main "the main() of simulated tests under libFuzzer")

foreach(library IN LISTS FERMATA_LIBRARIES)
  set(PC_NAME fermata-${library})
  set(PC_REQUIRES "")
  set(PC_LIBS -lfermata_${library})
  if(library MATCHES "^db_(.*)" AND NOT DEFINED description_${library})
    set(description_${library} "the database driver for ${CMAKE_MATCH_1}")
  endif()
  fermata_needs(${library} needs)
  foreach(need IN LISTS needs)
    if(need MATCHES "^fermata::(.*)")
      list(APPEND PC_REQUIRES fermata-${CMAKE_MATCH_1})
    elseif(need STREQUAL "PkgConfig::libevent")
      # In the order of its CMakeLists.txt; pkg-config puts what is required behind libev.
      list(APPEND PC_LIBS -levent_core)
    elseif(need MATCHES "^PkgConfig::(.*)")
      list(APPEND PC_REQUIRES ${${CMAKE_MATCH_1}_MODULE_NAME})
    elseif(need STREQUAL "fmt::fmt")
      list(APPEND PC_REQUIRES fmt)
    elseif(need STREQUAL "GTest::gtest")
      list(APPEND PC_REQUIRES gtest)
    elseif(need STREQUAL "Boost::context")
      list(APPEND PC_LIBS -lboost_context)
    elseif(need STREQUAL "Threads::Threads")
      list(APPEND PC_LIBS ${CMAKE_THREAD_LIBS_INIT})
    else()
      list(APPEND PC_LIBS -l${need})
    endif()
  endforeach()
  list(JOIN PC_REQUIRES " " PC_REQUIRES)
  list(JOIN PC_LIBS " " PC_LIBS)
  set(PC_DESCRIPTION "${description_${library}}")
  file(RELATIVE_PATH PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/fermata.pc.in"
    "${PROJECT_BINARY_DIR}/${PC_NAME}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${PC_NAME}.pc"
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
