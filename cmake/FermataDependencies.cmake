# SPDX-License-Identifier: Apache-2.0
#
# Everything comes from the system; nothing is vendored. What is optional removes its part, aloud.

find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ON)  # a switch then needs no detour through the linkage table
find_package(Boost 1.74 REQUIRED COMPONENTS context)
find_package(fmt REQUIRED)

find_package(PkgConfig)
if(PkgConfig_FOUND)
  pkg_check_modules(libuv IMPORTED_TARGET libuv>=1.44)
  pkg_check_modules(libevent IMPORTED_TARGET libevent_core>=2.1)
endif()
find_path(libev_HEADERS ev.h)  # it has no pkg-config file
find_library(libev_LIBRARY ev)
if(libev_HEADERS AND libev_LIBRARY)
  set(libev_FOUND TRUE)
endif()
find_package(GTest)
find_package(rapidcheck CONFIG)
find_package(nlohmann_json CONFIG)
find_package(benchmark CONFIG)
find_package(CLI11 CONFIG)
find_package(boost_fiber 1.74 CONFIG QUIET)
find_package(Python3 COMPONENTS Interpreter)

# fermata_without(<name of the result> <package> <the part left out>)
function(fermata_without found package part)
  if(NOT ${found})
    message(STATUS "Fermata: ${package} not found: building without ${part}")
  endif()
endfunction()
fermata_without(libuv_FOUND "libuv" "fermata::uv and everything on real sockets")
fermata_without(libev_FOUND "libev" "the reactor on libev")
fermata_without(libevent_FOUND "libevent" "the reactor on libevent")
fermata_without(GTest_FOUND "GoogleTest" "tests and fermata::sim")
fermata_without(rapidcheck_FOUND "RapidCheck" "fermata::sim and properties")
fermata_without(nlohmann_json_FOUND "nlohmann-json" "fermata::sim and properties")
fermata_without(benchmark_FOUND "Google Benchmark" "bench")
fermata_without(CLI11_FOUND "CLI11" "the tool fermata")
fermata_without(boost_fiber_FOUND "Boost.Fiber" "the rows of bench that measure it")
fermata_without(Python3_FOUND "Python 3" "the layering, tidy and invariant tests")
