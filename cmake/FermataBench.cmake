# SPDX-License-Identifier: Apache-2.0
#
# bench/*.cpp make one Google Benchmark program; each source in bench/echo is a program of its own:
# the servers that are compared, and the load that drives them.

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
    fermata_uv fermata_sim fermata_runtime Boost::fiber Boost::context fmt::fmt
    benchmark::benchmark_main)
  if(TARGET Boost::fiber)
    target_compile_definitions(fermata_bench PRIVATE FERMATA_BENCH_FIBER)
  endif()
endif()

file(GLOB echo_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/bench/echo/*.c" "${PROJECT_SOURCE_DIR}/bench/echo/*.cpp")
foreach(source IN LISTS echo_sources)
  cmake_path(GET source STEM name)
  fermata_program(bench_${name} bench/echo SOURCES ${source}
    LINK fermata_uv fermata_runtime PkgConfig::libuv Threads::Threads fmt::fmt)
endforeach()
