# SPDX-License-Identifier: Apache-2.0
#
# fuzz/*.cpp are fuzz targets. In the preset `fuzz` they have libFuzzer in them; in all others they
# run files, and each replays its corpus, fuzz/corpus/<target>, as a test.
#
# The simulator itself tells libFuzzer nothing of what it covers: where it does, what happens inside
# it counts as news as well, and guidance loses to chance (docs/bench/fuzzing.md).

if(NOT TARGET fermata_fuzz_main)
  return()
endif()

# fermata_fuzz_target(<name> [SOURCES ...] [ABOUT ...] [LINK ...] [TEST Suite.Name]
# [FAILS <regex>]): without TEST the sources define LLVMFuzzerTestOneInput. ABOUT: sources of
# libraries that the target is about, which tell what they cover too. FAILS: its corpus is one input
# that fails, and this is printed of it.
function(fermata_fuzz_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TEST;FAILS" "SOURCES;ABOUT;LINK")
  if(arg_TEST AND FERMATA_FUZZER)
    set(main fermata_libfuzzer_main)
  elseif(arg_TEST)
    set(main fermata_fuzz_main)
  elseif(NOT FERMATA_FUZZER)
    list(APPEND arg_SOURCES "${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp")
  endif()
  if(FERMATA_FUZZER)
    list(APPEND arg_SOURCES ${arg_ABOUT})  # Compiled anew; a library's own copy stays out.
  endif()
  fermata_program(fuzz_${name} fuzz SOURCES ${arg_SOURCES} LINK ${main} fermata_sim ${arg_LINK})
  if(FERMATA_FUZZER)
    target_compile_options(fuzz_${name} PRIVATE -fsanitize=fuzzer-no-link)
    if(NOT arg_TEST)
      target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
    endif()
    return()
  endif()
  if(arg_TEST)
    set(environment "FERMATA_FUZZ=${arg_TEST};FERMATA_OUT=${PROJECT_BINARY_DIR}/fuzz/${name}.out")
  endif()
  add_test(NAME fuzz.corpus.${name}
    COMMAND fuzz_${name} "${PROJECT_SOURCE_DIR}/fuzz/corpus/${name}")
  set_tests_properties(fuzz.corpus.${name} PROPERTIES LABELS fuzz TIMEOUT 120
    ENVIRONMENT "${environment}")
  if(arg_FAILS)
    set_tests_properties(fuzz.corpus.${name} PROPERTIES PASS_REGULAR_EXPRESSION "${arg_FAILS}")
  endif()
endfunction()

fermata_fuzz_target(canary TEST Canary.TheLockStaysShut
  FAILS "signature  safety: fuzz/canary.cpp:#: Expected: [(]lock.right"
  SOURCES "${PROJECT_SOURCE_DIR}/fuzz/canary.cpp")
fermata_fuzz_target(worker_pool TEST WorkerPool.DoesWhatItHasAccepted
  SOURCES "${PROJECT_SOURCE_DIR}/examples/worker_pool/worker_pool_sim_test.cpp")
file(GLOB core_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/runtime/fermata/core/*.cpp")
fermata_fuzz_target(core_laws TEST CoreLaws.HoldForEveryProgram ABOUT ${core_sources}
  SOURCES "${PROJECT_SOURCE_DIR}/fuzz/core_laws.cpp" "${PROJECT_SOURCE_DIR}/fuzz/drawn_program.cpp"
  LINK fermata_laws fermata_test_support fmt::fmt)
set(sim "${PROJECT_SOURCE_DIR}/sim/fermata/sim")
file(GLOB readers CONFIGURE_DEPENDS "${sim}/tape/*.cpp" "${sim}/strategy/make_strategy.cpp"
  "${sim}/run/environment.cpp" "${sim}/run/reproduce.cpp" "${sim}/base/seed.cpp")
fermata_fuzz_target(parsers ABOUT ${readers}
  SOURCES "${PROJECT_SOURCE_DIR}/fuzz/parsers.cpp" "${sim}/cli/filter.cpp"
  LINK fmt::fmt)

# Bugs to measure with (fuzz/measure.py), and everything else there is to fuzz.
if(FERMATA_FUZZER)
  set(applications ${application_sources})
  list(FILTER applications EXCLUDE REGEX "_test\\.cpp$|/(expected|search)\\.cpp$")
  fermata_fuzz_target(applications TEST Buggy.Any SOURCES ${applications} LINK fmt::fmt)
  set_target_properties(fuzz_applications PROPERTIES
    UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12 EXCLUDE_FROM_ALL ON)
  add_custom_target(fuzz_targets DEPENDS fuzz_canary fuzz_worker_pool fuzz_core_laws fuzz_parsers)
endif()
