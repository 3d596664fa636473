# SPDX-License-Identifier: Apache-2.0
#
# examples/<name>/: main.cpp is the program, *_sim_test.cpp its simulation; what else is there goes
# to both. Under sanitizers only those that other tests run are built: the rest shows how the
# libraries are used, and one build of it shows that.

# Few sources each, and tests/examples_bugs.py compiles them anew.
set(CMAKE_UNITY_BUILD OFF)

# What takes long is in the libraries: programs and simulations are compiled quickly, as all tests
# are.
set(FERMATA_TESTS_PRECOMPILED tests)
add_compile_options(${FERMATA_QUICK_OPTIONS})
fermata_precompiled(examples)

set(sanitized_programs chat echo file_pieces operation_timeout reload)  # of tests/end_to_end
set(sanitized_simulations box_office lost_update)                       # of tests/meta

# Those whose simulated tests fail, since that is what they show; each with the signature it prints.
set(failure_of_lost_update "signature  safety: examples/lost_update/lost_update_sim_test.cpp:#:")
set(failure_of_transfer "signature  deadlock: fermata::DeadlockError: Deadlock detected")

# What some need besides; without it they are left out.
set(needed_by_uv_host PkgConfig::libuv)
set(needed_by_from_libuv PkgConfig::libuv)
set(needed_by_glib_host PkgConfig::glib)
set(needed_by_bank nlohmann_json::nlohmann_json)
set(needed_by_read_cache fermata_sim)
set(needed_by_foreign_client PkgConfig::hiredis)

# What they link besides: fermata::posix, and what was not written for Fermata. That without the
# flags for its own users, which a precompiled header does not have.
set(linked_by_foreign_client fermata_posix ${hiredis_LINK_LIBRARIES})
set(linked_by_foreign_threads fermata_posix)

file(GLOB examples CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/examples/*")
foreach(example IN LISTS examples)
  cmake_path(GET example FILENAME name)
  file(GLOB shared CONFIGURE_DEPENDS "${example}/*.cpp")
  set(simulations ${shared})
  list(FILTER simulations INCLUDE REGEX "_sim_test\\.cpp$")
  list(FILTER shared EXCLUDE REGEX "(_sim_test|/main)\\.cpp$")

  set(needed ${needed_by_${name}})
  if(needed AND NOT TARGET ${needed})
    continue()
  endif()

  set(program "${example}/main.cpp")
  if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
    if(NOT name IN_LIST sanitized_programs)
      set(program "")
    endif()
    if(NOT name IN_LIST sanitized_simulations)
      set(simulations "")
    endif()
  endif()

  if(EXISTS "${program}" AND TARGET fermata_uv)
    if(linked_by_${name})
      set(needed "")
    endif()
    fermata_program(example_${name} examples/${name} SOURCES "${program}" ${shared}
      LINK fermata_drivers fermata_uv fermata_host fermata_db_drivers fmt::fmt ${needed}
      PRECOMPILED examples)
    target_link_libraries(example_${name} PRIVATE ${linked_by_${name}})
  endif()
  if(simulations AND BUILD_TESTING AND TARGET fermata_sim)
    set(properties ${FERMATA_SIMULATION_PROPERTIES})
    if(failure_of_${name})
      list(APPEND properties PASS_REGULAR_EXPRESSION "${failure_of_${name}}")
    endif()
    fermata_test(example_${name}_sim_test examples/${name}
      SOURCES ${simulations} ${shared}
      LINK fermata_test_support fermata_loop fermata_sim fermata_sim_db fermata_sim_property
        fmt::fmt
      PROPERTIES ${properties})
    target_link_libraries(example_${name}_sim_test PRIVATE ${linked_by_${name}})
  endif()
endforeach()

# The bugs that the examples warn of are found when they are put back. Once is enough.
if(BUILD_TESTING AND TARGET fermata_sim AND Python3_FOUND AND CMAKE_BUILD_TYPE STREQUAL "Release")
  add_test(NAME examples.bugs COMMAND Python3::Interpreter
    "${PROJECT_SOURCE_DIR}/tests/examples_bugs.py" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
  set_tests_properties(examples.bugs PROPERTIES LABELS tests/scripts TIMEOUT 600)
endif()
