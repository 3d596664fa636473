# SPDX-License-Identifier: Apache-2.0
#
# fermata_discover_tests(<target>
#   [EXTRA_ARGS <argument>...] [RUNS <n>] [TEST_PREFIX <prefix>] [PROPERTIES <name> <value>...]
#   [DISCOVERY_TIMEOUT <seconds>] [WORKING_DIRECTORY <folder>])
#
# Each SIM_TEST and SIM_PROPERTY of a program becomes a test of ctest, which explores it. They are
# found when the program has been built, by asking it, and are labelled `simulation`. Tests of
# GoogleTest that are not simulated are left to gtest_discover_tests, which finds both kinds.
#
# EXTRA_ARGS         further arguments of the program.
# RUNS               how many schedules a test explores: FERMATA_RUNS. 1000 when nobody says.
# TEST_PREFIX        comes before the name of each test.
# PROPERTIES         of each test; they override those that are set here.
# DISCOVERY_TIMEOUT  how long the program may take to tell its tests, 30 s by default.
# WORKING_DIRECTORY  where tests run and leave the folder fermata-out: the current binary folder by
#                    default.
#
# A test that skips all its runs is skipped, a disabled one is disabled.

function(fermata_discover_tests target)
  set(one RUNS TEST_PREFIX DISCOVERY_TIMEOUT WORKING_DIRECTORY)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "${one}" "EXTRA_ARGS;PROPERTIES")
  set(wrong "")
  if(NOT TARGET ${target})
    set(wrong "'${target}' is not a target; expected an executable")
  else()
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL "EXECUTABLE")
      set(wrong "'${target}' is of the type ${type}; expected an executable")
    endif()
  endif()
  list(LENGTH arg_PROPERTIES properties)
  math(EXPR odd "${properties} % 2")
  if(arg_UNPARSED_ARGUMENTS)
    set(wrong "unknown argument '${arg_UNPARSED_ARGUMENTS}'; expected EXTRA_ARGS, RUNS, \
TEST_PREFIX, PROPERTIES, DISCOVERY_TIMEOUT or WORKING_DIRECTORY")
  elseif(arg_KEYWORDS_MISSING_VALUES)
    set(wrong "${arg_KEYWORDS_MISSING_VALUES} without a value")
  elseif(odd)
    set(wrong "PROPERTIES '${arg_PROPERTIES}'; expected pairs of a name and a value")
  elseif(DEFINED arg_RUNS AND NOT arg_RUNS MATCHES "^[1-9][0-9]*$")
    set(wrong "RUNS '${arg_RUNS}'; expected a number, at least 1")
  elseif(DEFINED arg_DISCOVERY_TIMEOUT AND NOT arg_DISCOVERY_TIMEOUT MATCHES "^[1-9][0-9]*$")
    set(wrong "DISCOVERY_TIMEOUT '${arg_DISCOVERY_TIMEOUT}'; expected seconds, at least 1")
  endif()
  if(wrong)
    message(FATAL_ERROR "fermata_discover_tests: ${wrong}")
  endif()
  if(NOT DEFINED arg_DISCOVERY_TIMEOUT)
    set(arg_DISCOVERY_TIMEOUT 30)
  endif()
  if(NOT DEFINED arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_WORKING_DIRECTORY BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")

  set(tests "${CMAKE_CURRENT_BINARY_DIR}/${target}_simulated_tests.cmake")
  get_property(emulator TARGET ${target} PROPERTY CROSSCOMPILING_EMULATOR)
  add_custom_command(TARGET ${target} POST_BUILD
    BYPRODUCTS "${tests}"
    COMMAND "${CMAKE_COMMAND}"
      "-DPROGRAM=$<TARGET_FILE:${target}>" "-DEMULATOR=${emulator}" "-DTESTS=${tests}"
      "-DEXTRA_ARGS=${arg_EXTRA_ARGS}" "-DRUNS=${arg_RUNS}" "-DTEST_PREFIX=${arg_TEST_PREFIX}"
      "-DPROPERTIES=${arg_PROPERTIES}" "-DDISCOVERY_TIMEOUT=${arg_DISCOVERY_TIMEOUT}"
      "-DWORKING_DIRECTORY=${arg_WORKING_DIRECTORY}"
      -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/FermataListTests.cmake"
    VERBATIM)

  # What ctest reads; before the program is built there is one test, which cannot run.
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}_simulated_include.cmake")
  file(WRITE "${include}" "\
if(EXISTS [==[${tests}]==])
  include([==[${tests}]==])
else()
  add_test([==[${target}_NOT_BUILT]==] [==[${target}_NOT_BUILT]==])
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()
