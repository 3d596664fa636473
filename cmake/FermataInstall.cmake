# SPDX-License-Identifier: Apache-2.0
#
# Installs the libraries, their headers in the layout they are included by, the tool `fermata`, a
# CMake package `Fermata` and pkg-config files fermata-runtime, fermata-uv, fermata-poll ...

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

if(NOT FERMATA_LIBRARIES)
  return()
endif()

install(TARGETS ${FERMATA_LIBRARIES} EXPORT Fermata
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET fermata)
  install(TARGETS fermata RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# What has to be built to be installed; tests and examples have not.
add_custom_target(fermata_installed)
add_dependencies(fermata_installed ${FERMATA_LIBRARIES})
if(TARGET fermata)
  add_dependencies(fermata_installed fermata)
endif()

# Both trees, laid over each other.
foreach(part IN ITEMS runtime sim)
  if(TARGET fermata_${part})
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${part}/fermata"
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
            FILES_MATCHING PATTERN "*.hpp" PATTERN "cli" EXCLUDE PATTERN "node_modules" EXCLUDE)
  endif()
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/runtime/gdb/fermata.py"
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fermata)

set(package_folder "${CMAKE_INSTALL_LIBDIR}/cmake/Fermata")
install(EXPORT Fermata NAMESPACE fermata:: FILE FermataTargets.cmake DESTINATION ${package_folder})
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/FermataConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/FermataConfig.cmake" INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/FermataConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/FermataConfig.cmake"
              "${PROJECT_BINARY_DIR}/FermataConfigVersion.cmake" DESTINATION ${package_folder})

# fermata_pkg_config(<library> <description> <modules required> <other libraries>)
function(fermata_pkg_config library description requires libs)
  if(NOT TARGET fermata_${library})
    return()
  endif()
  set(PC_NAME fermata-${library})
  set(PC_DESCRIPTION "${description}")
  set(PC_REQUIRES "${requires}")
  set(PC_LIBS "-lfermata_${library} ${libs}")
  file(RELATIVE_PATH PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fermata.pc.in"
    "${PROJECT_BINARY_DIR}/fermata-${library}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/fermata-${library}.pc"
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

fermata_pkg_config(runtime "Coroutines, events and scheduler" "fmt"
  "-lboost_context ${CMAKE_THREAD_LIBS_INIT}")
fermata_pkg_config(uv "The reactor on libuv" "fermata-runtime libuv fmt" "")
set(poll_libs "")  # In this order, as in its CMakeLists.txt; pkg-config would put libev first.
if(libevent_FOUND)
  string(APPEND poll_libs "-levent_core ")
endif()
if(libev_FOUND)
  string(APPEND poll_libs "-lev")
endif()
fermata_pkg_config(poll "Reactors on libev, libevent, ppoll, pselect and epoll"
  "fermata-runtime fmt" "${poll_libs}")
set(host_requires "fermata-poll fmt")
if(libuv_FOUND)
  string(APPEND host_requires " libuv")
endif()
fermata_pkg_config(host "Guests in loops of others" "${host_requires}" "-lboost_context")
fermata_pkg_config(loop "The event loop of callbacks" "fermata-runtime fmt" "")
set(drivers_requires "fermata-loop fermata-poll")
if(TARGET fermata_uv)
  string(APPEND drivers_requires " fermata-uv")
endif()
fermata_pkg_config(drivers "The reactors to choose from" "${drivers_requires}" "")
fermata_pkg_config(db "A database that coroutines share" "fermata-runtime fmt" "")
set(db_drivers_requires "fermata-db")
foreach(database IN LISTS FERMATA_DATABASES)
  string(REPLACE ":" ";" database "${database}")
  list(GET database 0 name)
  list(GET database 1 module)
  fermata_pkg_config(db_${name} "The database driver on ${module}" "fermata-db fmt ${module}" "")
  string(APPEND db_drivers_requires " fermata-db_${name}")
endforeach()
fermata_pkg_config(db_drivers "The databases to choose from" "${db_drivers_requires}" "")
fermata_pkg_config(sim "The deterministic simulator" "fermata-runtime gtest fmt" "")
fermata_pkg_config(sim_property "Simulated tests with generated arguments" "fermata-sim"
  "-lrapidcheck")
fermata_pkg_config(sim_db "A database in a simulated machine" "fermata-sim fermata-db" "")
fermata_pkg_config(sim_main "The simulator's main()" "fermata-sim" "")
fermata_pkg_config(fuzz_main "The main() of simulated tests that replay a fuzzer's inputs"
  "fermata-sim" "")
fermata_pkg_config(libfuzzer_main "The main() of simulated tests under libFuzzer" "fermata-sim" "")
