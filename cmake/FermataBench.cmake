# SPDX-License-Identifier: Apache-2.0
#
# bench/*.cpp make one Google Benchmark program, bench/loop/*.cpp another; each source in
# bench/echo, bench/io and bench/database is a program of its own: the contestants, and the load
# that drives the servers among them.

# An instrumented build measures its instruments.
if(NOT CMAKE_BUILD_TYPE MATCHES "Release|Debug")
  return()
endif()
if(NOT benchmark_FOUND OR NOT TARGET fermata_uv OR NOT TARGET fermata_sim)
  return()
endif()

file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
if(bench_sources)
  fermata_program(fermata_bench bench SOURCES ${bench_sources} LINK
    fermata_uv fermata_sim fermata_db fermata_runtime Boost::fiber Boost::context fmt::fmt
    benchmark::benchmark_main PRECOMPILED sim)
  if(TARGET Boost::fiber)
    target_compile_definitions(fermata_bench PRIVATE FERMATA_BENCH_FIBER BOOST_DISABLE_ASSERTS)
  endif()
endif()

file(GLOB loop_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/loop/*.cpp")
if(loop_sources)
  fermata_program(fermata_loop_bench bench/loop SOURCES ${loop_sources} LINK
    fermata_drivers fermata_uv fermata_runtime PkgConfig::libuv benchmark::benchmark_main)
endif()

set(folders echo io)
if(TARGET PkgConfig::postgresql AND TARGET PkgConfig::sqlite)
  list(APPEND folders database)
endif()
foreach(folder IN LISTS folders)
  file(GLOB sources CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/bench/${folder}/*.c" "${PROJECT_SOURCE_DIR}/bench/${folder}/*.cpp")
  if(NOT libev_FOUND)
    list(FILTER sources EXCLUDE REGEX "/ev_server\\.c$")
  endif()
  if(NOT libevent_FOUND)
    list(FILTER sources EXCLUDE REGEX "/event_server\\.c$")
  endif()
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM name)
    fermata_program(bench_${name} bench/${folder} SOURCES ${source}
      LINK fermata_drivers fermata_uv fermata_runtime PkgConfig::libuv Threads::Threads fmt::fmt)
  endforeach()
endforeach()
if(libev_FOUND)
  target_link_libraries(bench_ev_server PRIVATE ev)
endif()
if(TARGET fermata_uring)
  target_link_libraries(bench_fermata_server PRIVATE fermata_uring)
  target_compile_definitions(bench_fermata_server PRIVATE FERMATA_BENCH_URING)
endif()
if(libevent_FOUND)
  target_link_libraries(bench_event_server PRIVATE PkgConfig::libevent)
endif()
if(TARGET bench_plain_database)
  target_link_libraries(bench_plain_database PRIVATE PkgConfig::postgresql PkgConfig::sqlite)
  target_link_libraries(bench_fermata_database PRIVATE fermata_db_drivers)
endif()
