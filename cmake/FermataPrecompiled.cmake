# SPDX-License-Identifier: Apache-2.0
#
# Headers of others that most sources include are parsed once. Each source includes what it uses all
# the same: the preset `debug` builds without (CMAKE_DISABLE_PRECOMPILE_HEADERS).

file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/precompiled.cpp" CONTENT "")

# fermata_precompiled(<name> [<library> <header>]...): target fermata_precompiled_<name>, whose
# precompiled headers are the standard's, fmt's and these, for targets with the options of this
# folder that link fmt and these libraries.
function(fermata_precompiled name)
  set(target fermata_precompiled_${name})
  add_library(${target} OBJECT "${PROJECT_BINARY_DIR}/precompiled.cpp")
  set(libraries ${ARGN})
  set(headers ${ARGN})
  list(FILTER libraries INCLUDE REGEX "::")
  list(FILTER headers EXCLUDE REGEX "::")
  target_link_libraries(${target} PRIVATE fmt::fmt ${libraries})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <chrono> <exception> <functional> <map> <memory> <optional> <sstream>
    <string> <string_view> <utility> <vector> <fmt/format.h> ${headers})
endfunction()

# fermata_use_precompiled(<target> <name>)
function(fermata_use_precompiled target name)
  target_precompile_headers(${target} REUSE_FROM fermata_precompiled_${name})
endfunction()

fermata_precompiled(runtime)
if(GTest_FOUND)
  fermata_precompiled(sim GTest::gtest <gtest/gtest.h>)
endif()
