# SPDX-License-Identifier: Apache-2.0
#
# The libraries: fermata::runtime, fermata::uv, fermata::poll, fermata::sim and its main; the tool.

# Includes read <fermata/runtime/...> here as in an installed copy: links stand for the layout.
set(FERMATA_INCLUDE_DIR "${PROJECT_BINARY_DIR}/include")
file(MAKE_DIRECTORY "${FERMATA_INCLUDE_DIR}/fermata")
foreach(part IN ITEMS runtime sim)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${part}"
       "${FERMATA_INCLUDE_DIR}/fermata/${part}" SYMBOLIC)
  file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${part}/${part}.hpp"
       "${FERMATA_INCLUDE_DIR}/fermata/${part}.hpp" SYMBOLIC)
endforeach()

set(FERMATA_LIBRARIES "")

# fermata_library(<name> <sources>...): static library fermata_<name>, alias fermata::<name>.
function(fermata_library name)
  add_library(fermata_${name} STATIC ${ARGN})
  add_library(fermata::${name} ALIAS fermata_${name})
  set_target_properties(fermata_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(fermata_${name} PUBLIC cxx_std_20)
  target_include_directories(fermata_${name} PUBLIC
    $<BUILD_INTERFACE:${FERMATA_INCLUDE_DIR}> $<INSTALL_INTERFACE:include>)
  fermata_unity_by_folder(fermata_${name})
  set(FERMATA_LIBRARIES ${FERMATA_LIBRARIES} fermata_${name} PARENT_SCOPE)
endfunction()

set(runtime_sources "")
foreach(layer IN ITEMS base context core sync reactor io loop os)
  file(GLOB_RECURSE layer_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/${layer}/*.cpp")
  list(APPEND runtime_sources ${layer_sources})
endforeach()
list(FILTER runtime_sources EXCLUDE REGEX "/loop/factory\\.cpp$")
file(GLOB database_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/db/*.cpp")
list(FILTER database_sources EXCLUDE REGEX "/factory\\.cpp$")
list(APPEND runtime_sources ${database_sources})
if(runtime_sources)
  fermata_library(runtime ${runtime_sources})
  target_link_libraries(fermata_runtime PUBLIC Threads::Threads PRIVATE Boost::context fmt::fmt)
  fermata_use_precompiled(fermata_runtime runtime)
else()
  message(STATUS "Fermata: runtime/ has no sources yet: no fermata::runtime")
endif()

file(GLOB_RECURSE uv_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/uv/*.cpp")
set(uv_guest "${PROJECT_SOURCE_DIR}/runtime/uv/guest.cpp")
list(REMOVE_ITEM uv_sources "${uv_guest}")
if(uv_sources AND libuv_FOUND AND TARGET fermata_runtime)
  fermata_library(uv ${uv_sources})
  target_link_libraries(fermata_uv PUBLIC fermata_runtime PRIVATE PkgConfig::libuv fmt::fmt)
  fermata_use_precompiled(fermata_uv runtime)
else()
  message(STATUS "Fermata: no fermata::uv")
endif()

# libev and libevent are left out where they are missing.
file(GLOB poll_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/poll/*.cpp")
if(NOT libev_FOUND)
  list(FILTER poll_sources EXCLUDE REGEX "/ev_backend\\.cpp$")
endif()
if(NOT libevent_FOUND)
  list(FILTER poll_sources EXCLUDE REGEX "/event_backend\\.cpp$")
endif()
fermata_library(poll ${poll_sources})
target_link_libraries(fermata_poll PUBLIC fermata_runtime PRIVATE fmt::fmt)
# In this order: libev brings functions with names of libevent, which must not stand for them.
if(libevent_FOUND)
  target_link_libraries(fermata_poll PRIVATE PkgConfig::libevent)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/runtime/poll/backends.cpp"
    APPEND PROPERTY COMPILE_DEFINITIONS FERMATA_WITH_LIBEVENT)
endif()
if(libev_FOUND)
  target_link_libraries(fermata_poll PRIVATE ev)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/runtime/poll/backends.cpp"
    APPEND PROPERTY COMPILE_DEFINITIONS FERMATA_WITH_LIBEV)
endif()
fermata_use_precompiled(fermata_poll runtime)

file(GLOB host_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/host/*.cpp")
fermata_library(host ${host_sources})
target_link_libraries(fermata_host PUBLIC fermata_poll PRIVATE Boost::context fmt::fmt)
if(libuv_FOUND)
  target_sources(fermata_host PRIVATE "${uv_guest}")
  target_link_libraries(fermata_host PRIVATE PkgConfig::libuv)
endif()
fermata_use_precompiled(fermata_host runtime)

# What knows every reactor there is.
fermata_library(drivers "${PROJECT_SOURCE_DIR}/runtime/loop/factory.cpp")
target_link_libraries(fermata_drivers PUBLIC fermata_runtime PRIVATE fermata_poll fmt::fmt)
if(TARGET fermata_uv)
  target_link_libraries(fermata_drivers PRIVATE fermata_uv)
  target_compile_definitions(fermata_drivers PRIVATE FERMATA_HAS_UV)
endif()
fermata_use_precompiled(fermata_drivers runtime)

# The databases whose libraries there are.
fermata_library(db "${PROJECT_SOURCE_DIR}/runtime/db/factory.cpp")
target_link_libraries(fermata_db PUBLIC fermata_runtime PRIVATE fmt::fmt)
set(FERMATA_DATABASES "")
foreach(database IN ITEMS sqlite postgresql mariadb odbc)
  file(GLOB driver_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/db/${database}/*.cpp")
  if(${database}_FOUND AND driver_sources)
    target_sources(fermata_db PRIVATE ${driver_sources})
    target_link_libraries(fermata_db PRIVATE PkgConfig::${database})
    string(TOUPPER "FERMATA_WITH_${database}" with_database)
    target_compile_definitions(fermata_db PRIVATE ${with_database})
    list(APPEND FERMATA_DATABASES "${database}:${${database}_MODULE_NAME}")
  endif()
endforeach()
fermata_unity_by_folder(fermata_db)
fermata_use_precompiled(fermata_db runtime)

file(GLOB_RECURSE sim_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/sim/*.cpp")
list(FILTER sim_sources EXCLUDE REGEX
  "/sim/(cli/|run/sim_main\\.cpp$|fuzz/(fuzz_main|[a-z]+_driver)\\.cpp$)")
if(sim_sources AND GTest_FOUND AND rapidcheck_FOUND AND nlohmann_json_FOUND
    AND TARGET fermata_runtime)
  set(report_page "${PROJECT_SOURCE_DIR}/sim/report/web/dist/report.html")
  set(report_page_source "${PROJECT_BINARY_DIR}/report_page.cpp")
  add_custom_command(
    OUTPUT "${report_page_source}"
    COMMAND "${CMAKE_COMMAND}" -D "FROM=${report_page}" -D "TO=${report_page_source}"
            -P "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake"
    DEPENDS "${report_page}" "${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake"
    COMMENT "Embedding the report's page" VERBATIM)
  fermata_library(sim ${sim_sources} "${report_page_source}")
  set_source_files_properties(
    "${PROJECT_SOURCE_DIR}/sim/report/run_data.cpp"
    "${PROJECT_SOURCE_DIR}/sim/report/chrome_trace.cpp"
    PROPERTIES COMPILE_DEFINITIONS "FERMATA_VERSION=\"${PROJECT_VERSION}\"")
  target_link_libraries(fermata_sim
    PUBLIC fermata_runtime GTest::gtest rapidcheck
    PRIVATE fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
  fermata_use_precompiled(fermata_sim sim)
  fermata_library(sim_main "${PROJECT_SOURCE_DIR}/sim/run/sim_main.cpp")
  target_link_libraries(fermata_sim_main PUBLIC fermata_sim)

  # The main() of simulated tests that can be fuzzed: one reads files, the other is libFuzzer.
  fermata_library(fuzz_main "${PROJECT_SOURCE_DIR}/sim/fuzz/fuzz_main.cpp"
    "${PROJECT_SOURCE_DIR}/sim/fuzz/files_driver.cpp")
  target_link_libraries(fermata_fuzz_main PUBLIC fermata_sim PRIVATE fmt::fmt)
  fermata_library(libfuzzer_main "${PROJECT_SOURCE_DIR}/sim/fuzz/fuzz_main.cpp"
    "${PROJECT_SOURCE_DIR}/sim/fuzz/libfuzzer_driver.cpp")
  target_link_libraries(fermata_libfuzzer_main PUBLIC fermata_sim)
  if(FERMATA_LIBFUZZER)
    target_link_libraries(fermata_libfuzzer_main INTERFACE $<BUILD_INTERFACE:${FERMATA_LIBFUZZER}>)
  endif()
else()
  message(STATUS "Fermata: no fermata::sim")
endif()

# The tool `fermata`.
file(GLOB cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/sim/cli/*.cpp")
if(cli_sources AND TARGET fermata_sim AND CLI11_FOUND)
  add_executable(fermata ${cli_sources})
  target_include_directories(fermata PRIVATE "${FERMATA_INCLUDE_DIR}")
  target_link_libraries(fermata PRIVATE
    fermata_sim CLI11::CLI11 nlohmann_json::nlohmann_json fmt::fmt)
  fermata_use_precompiled(fermata sim)
  fermata_unity_by_folder(fermata)
else()
  message(STATUS "Fermata: no tool fermata")
endif()
