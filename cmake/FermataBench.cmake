# SPDX-License-Identifier: Apache-2.0
#
# bench/*_bench.cpp are Google Benchmark programs; bench/*_server.{c,cpp} and *_load.{c,cpp} are the
# programs they are compared with or driven by; other sources are shared by the benchmarks.

if(NOT benchmark_FOUND OR NOT TARGET fermata_runtime)
  return()
endif()

file(GLOB bench_shared CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cpp")
file(GLOB bench_programs CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/bench/*_server.c*" "${PROJECT_SOURCE_DIR}/bench/*_load.c*")
set(benchmarks ${bench_shared})
list(FILTER benchmarks INCLUDE REGEX "_bench\\.cpp$")
list(FILTER bench_shared EXCLUDE REGEX "_(bench|server|load)\\.cpp$")

foreach(source IN LISTS benchmarks)
  cmake_path(GET source STEM name)
  fermata_program(${name} bench SOURCES ${source} ${bench_shared}
    LINK fermata_uv fermata_sim fermata_runtime Boost::context fmt::fmt benchmark::benchmark)
endforeach()
foreach(source IN LISTS bench_programs)
  cmake_path(GET source STEM name)
  fermata_program(${name} bench SOURCES ${source}
    LINK fermata_uv PkgConfig::libuv Threads::Threads)
endforeach()
