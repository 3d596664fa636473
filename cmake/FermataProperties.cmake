# SPDX-License-Identifier: Apache-2.0
#
# properties/*_properties.cpp are laws, the tests of one program; suite/ is the bundled suite of
# `./dev run`; zoo/ is the program that hunts mutants, zoo/applications/ programs that are wrong
# themselves, with their correct twins; the rest (models, generators, controls) is a library of
# theirs.

if(NOT TARGET fermata_sim_property)
  return()
endif()

# Laws explore much, and are optimised for it; the tests that start them are not. Under sanitizers,
# where they explore little, all are compiled quickly, as tests are.
set(FERMATA_TESTS_PRECOMPILED sim)
set(laws_options "")
if(CMAKE_BUILD_TYPE STREQUAL "Sanitize" AND NOT FERMATA_FUZZER)
  set(FERMATA_TESTS_PRECOMPILED tests)
  set(laws_options ${FERMATA_QUICK_OPTIONS})
endif()

file(GLOB_RECURSE laws_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/properties/*.cpp")
list(FILTER laws_sources EXCLUDE REGEX "/properties/(suite|zoo)/|_(properties|test)\\.cpp$")
if(laws_sources)
  add_library(fermata_laws STATIC ${laws_sources})
  target_include_directories(fermata_laws PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(fermata_laws PUBLIC
    fermata_sim_property fermata_sim_db fermata_poll fermata_loop fermata_db fermata_test_support
    fmt::fmt)
  fermata_use_precompiled(fermata_laws ${FERMATA_TESTS_PRECOMPILED})
  fermata_unity_by_folder(fermata_laws)
  file(GLOB subjects CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/properties/subjects/*.cpp")
  fermata_unity_in_groups(subjects 7 ${subjects})
endif()

set(laws_link fermata_laws fermata_test_support fermata_uv fermata_sim fmt::fmt)

file(GLOB properties_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/properties/*_properties.cpp")
set(precompiled ${FERMATA_TESTS_PRECOMPILED})
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(FERMATA_TESTS_PRECOMPILED tests)
endif()
fermata_test(properties_test properties SOURCES ${properties_sources}
  LINK fermata_loop_arms ${laws_link} PROPERTIES ${FERMATA_SIMULATION_PROPERTIES})
fermata_test(controls_test properties LINK ${laws_link} SOURCES
  "${PROJECT_SOURCE_DIR}/properties/controls/controls_test.cpp")
# A law on a library that was not written for Fermata.
if(TARGET fermata_posix AND TARGET fermata_db_postgresql)
  fermata_test(libpq_properties_test properties SOURCES
    "${PROJECT_SOURCE_DIR}/properties/libpq/databases_test.cpp"
    LINK fermata_laws fermata_test_support fermata_sim fermata_db_postgresql fermata_posix fmt::fmt
    PROPERTIES ${FERMATA_SIMULATION_PROPERTIES})
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(target IN ITEMS properties_test controls_test libpq_properties_test)
    if(TARGET ${target})
      target_compile_options(${target} PRIVATE ${FERMATA_QUICK_OPTIONS})
    endif()
  endforeach()
endif()
set(FERMATA_TESTS_PRECOMPILED ${precompiled})

file(GLOB suite_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/properties/suite/*.cpp")
if(suite_sources)
  fermata_program(fermata_suite properties LINK ${laws_link}
    PRECOMPILED ${FERMATA_TESTS_PRECOMPILED}
    SOURCES ${suite_sources} "${PROJECT_SOURCE_DIR}/examples/echo/echo.cpp")
  if(Python3_FOUND)
    add_test(NAME suite COMMAND Python3::Interpreter
      "${PROJECT_SOURCE_DIR}/tests/suite/suite_test.py" $<TARGET_FILE:fermata_suite>)
    set_tests_properties(suite PROPERTIES LABELS tests/scripts TIMEOUT 120)
  endif()
endif()

file(GLOB zoo_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/properties/zoo/*.cpp")
if(zoo_sources)
  fermata_program(zoo_hunt properties SOURCES ${zoo_sources} LINK ${laws_link}
    PRECOMPILED ${FERMATA_TESTS_PRECOMPILED})
endif()

file(GLOB application_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/properties/zoo/applications/*.cpp")
if(application_sources)
  fermata_test(zoo_applications properties SOURCES ${application_sources}
    LINK fermata_sim fmt::fmt FILTER "-Buggy.*")
  set_target_properties(zoo_applications PROPERTIES UNITY_BUILD_BATCH_SIZE 12)
endif()

foreach(target IN ITEMS
    fermata_laws properties_test controls_test libpq_properties_test fermata_suite zoo_hunt
    zoo_applications)
  if(TARGET ${target})
    target_compile_options(${target} PRIVATE ${laws_options})
  endif()
endforeach()
set(FERMATA_TESTS_PRECOMPILED sim)
