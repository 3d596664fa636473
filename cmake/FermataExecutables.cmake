# SPDX-License-Identifier: Apache-2.0
#
# How programs of this repository are built: tests, properties, examples, benchmarks.

include(GoogleTest)
set(FERMATA_TESTS_PRECOMPILED sim)

# Properties of tests of simulations. Under sanitizers, which take some seven times as long, and
# where lines are counted they explore fewer schedules: what is looked for is in each of them.
set(FERMATA_SIMULATION_PROPERTIES "")
if(CMAKE_BUILD_TYPE MATCHES "Sanitize|Coverage")
  set(FERMATA_SIMULATION_PROPERTIES ENVIRONMENT FERMATA_RUNS=100)
endif()

# What tests run, as far as it is built: `./dev test` builds no more. And what `./dev check` runs,
# a program of tests on each line of quick_tests.txt.
add_custom_target(fermata_tested)
if(TARGET fermata_installed)
  add_dependencies(fermata_tested fermata_installed)
endif()
add_custom_target(fermata_quick)
set(FERMATA_UNTESTED "^(fermata_bench|fermata_loop_bench|bench_.*|zoo_hunt)$")

# fermata_program(<name> <folder> SOURCES ... [LINK ...] [PRECOMPILED <name>]): an executable in
# <build>/<folder>, which sees the repository's root and links those of LINK that this build has.
function(fermata_program name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PRECOMPILED" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  foreach(library IN LISTS arg_LINK)
    if(TARGET ${library})
      target_link_libraries(${name} PRIVATE ${library})
    endif()
  endforeach()
  if(arg_PRECOMPILED)
    fermata_use_precompiled(${name} ${arg_PRECOMPILED})
  endif()
  if(NOT name MATCHES "${FERMATA_UNTESTED}")
    add_dependencies(fermata_tested ${name})
  endif()
endfunction()

# fermata_test(<name> <folder> SOURCES ... [LINK ...] [PROPERTIES ...] [FILTER <of GoogleTest>]
# [RUN_BY_SCRIPT]): a GoogleTest program; each of its tests is a ctest test of its own, labelled
# with its folder and run in the build directory, unless a script that is a test runs them all.
# Those of a program named *_slow_test are labelled <folder>/slow, and left out by `./dev check`.
# Under sanitizers, where a process takes half a second to start, those of FERMATA_SHARDED folders
# are <name>.shard_0 to 7 instead, each with an eighth of the tests in one process.
# What links fermata_sim gets the main() that knows the exit codes of simulated tests.
set(FERMATA_SHARDED "^tests/(unit|conformance|posix)$")
set(FERMATA_SHARDS 8)
function(fermata_test name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "RUN_BY_SCRIPT" "FILTER" "SOURCES;LINK;PROPERTIES")
  fermata_program(${name} ${folder} SOURCES ${arg_SOURCES} LINK ${arg_LINK}
    PRECOMPILED ${FERMATA_TESTS_PRECOMPILED})
  if(TARGET fermata_sim AND fermata_sim IN_LIST arg_LINK)
    target_link_libraries(${name} PRIVATE fermata_sim_main)
  else()
    target_link_libraries(${name} PRIVATE GTest::gtest_main)
  endif()
  target_compile_definitions(${name} PRIVATE
    FERMATA_SOURCE_DIR="${PROJECT_SOURCE_DIR}" FERMATA_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(folder MATCHES "^tests/(unit|conformance)$")
    add_dependencies(fermata_quick ${name})
    set_property(GLOBAL APPEND PROPERTY FERMATA_QUICK_TESTS "$<TARGET_FILE:${name}>")
  endif()
  if(arg_RUN_BY_SCRIPT)
    return()
  endif()
  set(label ${folder})
  if(name MATCHES "_slow_test$")
    string(APPEND label "/slow")
  endif()
  if(FERMATA_SANITIZE AND folder MATCHES "${FERMATA_SHARDED}")
    fermata_test_shards(${name} PROPERTIES TIMEOUT 300 LABELS ${label} ${arg_PROPERTIES})
    return()
  endif()
  gtest_discover_tests(${name}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    TEST_FILTER "${arg_FILTER}"
    WORKING_DIRECTORY "${PROJECT_BINARY_DIR}"
    PROPERTIES TIMEOUT 120 LABELS ${label} ${arg_PROPERTIES})
endfunction()

# fermata_test_shards(<name> PROPERTIES ...): all tests of a GoogleTest program, in few processes.
function(fermata_test_shards name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PROPERTIES")
  math(EXPR last "${FERMATA_SHARDS} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}.shard_${shard} COMMAND ${name} --gtest_brief=1
      WORKING_DIRECTORY "${PROJECT_BINARY_DIR}")
    set_tests_properties(${name}.shard_${shard} PROPERTIES ${arg_PROPERTIES}
      ENVIRONMENT_MODIFICATION
      "GTEST_TOTAL_SHARDS=set:${FERMATA_SHARDS};GTEST_SHARD_INDEX=set:${shard}")
  endforeach()
endfunction()
