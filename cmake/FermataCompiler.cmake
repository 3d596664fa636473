# SPDX-License-Identifier: Apache-2.0
#
# What every target is compiled with. Build types: Release, Debug, Sanitize, Coverage.
# Assertions are options at run time, so no build type defines NDEBUG.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, Sanitize or Coverage" FORCE)
endif()
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_FLAGS_RELEASE "-O2")
  set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O2 -g")
  set(CMAKE_${language}_FLAGS_DEBUG "-O0 -g -fno-omit-frame-pointer")
  set(CMAKE_${language}_FLAGS_SANITIZE "-O1 -g1 -fno-omit-frame-pointer")
  set(CMAKE_${language}_FLAGS_COVERAGE "-O0 -g1 --coverage")
endforeach()
set(CMAKE_EXE_LINKER_FLAGS_COVERAGE "--coverage")

set(FERMATA_SANITIZE "" CACHE STRING "Value for -fsanitize=; empty for none")
if(FERMATA_SANITIZE)
  add_compile_options(-fsanitize=${FERMATA_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FERMATA_SANITIZE})
endif()

# Clang's fuzzer as a library, for programs that have a main() of their own.
set(FERMATA_LIBFUZZER "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(libfuzzer "libclang_rt.fuzzer_no_main-${CMAKE_SYSTEM_PROCESSOR}.a")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=${libfuzzer}
    OUTPUT_VARIABLE libfuzzer_path OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${libfuzzer_path}")
    set(FERMATA_LIBFUZZER "${libfuzzer_path}")
  endif()
endif()
option(FERMATA_FUZZER "fuzz/ is linked with libFuzzer, and tells it what it covers" OFF)
if(FERMATA_FUZZER AND NOT FERMATA_LIBFUZZER)
  message(FATAL_ERROR "FERMATA_FUZZER: this compiler has no libFuzzer; clang has")
endif()

# context/jump.hpp enters another context below the stack pointer.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  add_compile_options(-mno-red-zone)
endif()

option(FERMATA_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})
# A designated initialiser leaves what it does not name to the defaults of the options struct.
add_compile_options(
  -Wall -Wextra -Wshadow -Wpedantic -Wconversion -Wno-missing-field-initializers)
if(FERMATA_WERROR)
  add_compile_options(-Werror)
endif()

# __FILE__ and coverage show the repository's paths. Debuggers look for these from the folder of the
# build, so that this one becomes the repository.
add_compile_options(
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/="
  "$<$<CONFIG:Debug>:-fdebug-prefix-map=${PROJECT_BINARY_DIR}=${PROJECT_SOURCE_DIR}>")

# For what is run briefly and compiled often: tests, and whatever else does not have to be fast.
# Under sanitizers null pointers trap by themselves; of the two other checks one is about layout and
# one about virtual calls, and both are made in the libraries. All three together are a third of
# what compiling a test costs.
set(FERMATA_QUICK_OPTIONS -O0)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND FERMATA_QUICK_OPTIONS $<$<COMPILE_LANGUAGE:CXX>:-ffold-simple-inlines>)
elseif(FERMATA_SANITIZE MATCHES "undefined")
  list(APPEND FERMATA_QUICK_OPTIONS -fno-sanitize=null,alignment,vptr)
endif()

# A faster linker than the compiler's own, when there is one.
find_program(FERMATA_LLD ld.lld)
if(FERMATA_LLD)
  add_link_options(-fuse-ld=lld)
endif()

find_program(FERMATA_CCACHE ccache)
if(FERMATA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${FERMATA_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${FERMATA_CCACHE}")
endif()
