# SPDX-License-Identifier: Apache-2.0
#
# A script of fermata_discover_tests: asks a test program for its simulated tests, and writes what
# ctest reads. Its variables are the arguments of that function.
cmake_minimum_required(VERSION 3.25)

# fermata_quote(<text> <result>): as one argument of CMake.
function(fermata_quote text result)
  set(bracket "")
  while(text MATCHES "[]]${bracket}[]]")
    string(APPEND bracket "=")
  endwhile()
  set(${result} "[=${bracket}[${text}]=${bracket}]" PARENT_SCOPE)
endfunction()

set(answer "${TESTS}.list")
file(REMOVE "${answer}" "${TESTS}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -E env "FERMATA_INTERNAL_LIST=${answer}" ${EMULATOR} "${PROGRAM}"
  WORKING_DIRECTORY "${WORKING_DIRECTORY}"
  TIMEOUT ${DISCOVERY_TIMEOUT}
  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
set(lines "")
if(EXISTS "${answer}")
  file(STRINGS "${answer}" lines ENCODING UTF-8)
  file(REMOVE "${answer}")
endif()
if(NOT result EQUAL 0 OR NOT lines MATCHES "^fermata-tests 1;.*end [0-9]+$")
  if(result MATCHES "^[0-9]+$")
    set(result "it exited with code ${result}")
  elseif(result MATCHES "timeout")
    set(result "it did not end within ${DISCOVERY_TIMEOUT} s (DISCOVERY_TIMEOUT)")
  endif()
  message(FATAL_ERROR
    "fermata_discover_tests: ${PROGRAM} does not list simulated tests: ${result}; "
    "expected a test program that links fermata::sim and has a SIM_TEST\n${output}")
endif()

set(script "")
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^.*:[0-9]+ ([^ ]+)$")
    continue()
  endif()
  set(test "${CMAKE_MATCH_1}")
  string(REPLACE "DISABLED_" "" shown "${test}")
  fermata_quote("${TEST_PREFIX}${shown}" name)
  set(command "")
  foreach(word IN LISTS EMULATOR PROGRAM)
    fermata_quote("${word}" quoted)
    string(APPEND command " ${quoted}")
  endforeach()
  set(words "--gtest_filter=${test}" --gtest_also_run_disabled_tests ${EXTRA_ARGS})
  foreach(word IN LISTS words)
    fermata_quote("${word}" quoted)
    string(APPEND command " ${quoted}")
  endforeach()
  fermata_quote("${WORKING_DIRECTORY}" folder)
  string(APPEND script "add_test(${name}${command})\nset_tests_properties(${name} PROPERTIES"
    " WORKING_DIRECTORY ${folder} LABELS simulation"
    " SKIP_REGULAR_EXPRESSION [=[\\[  SKIPPED \\]]=]")
  if(RUNS)
    string(APPEND script " ENVIRONMENT_MODIFICATION FERMATA_RUNS=set:${RUNS}")
  endif()
  if(NOT test STREQUAL shown)
    string(APPEND script " DISABLED TRUE")
  endif()
  foreach(word IN LISTS PROPERTIES)
    fermata_quote("${word}" quoted)
    string(APPEND script " ${quoted}")
  endforeach()
  string(APPEND script ")\n")
endforeach()
file(WRITE "${TESTS}" "${script}")
