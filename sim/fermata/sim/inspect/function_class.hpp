// SPDX-License-Identifier: Apache-2.0
#pragma once

// What becomes of a call of the C library that foreign code makes in the simulated world. The
// answer comes from the table by which functions are served, and from the list of those that need
// nothing of the world; a name in neither is unknown.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fermata::sim::detail {

enum class FunctionClass : std::uint8_t {
  Served,    // the simulated machine answers
  Passed,    // has no contact with the world, or through served functions only
  Unserved,  // fails the run, by name
  Unknown,   // nobody has looked at it: it does what it always does, with the real system
};

/// The name for users: "served", "passed", "not served", "unknown".
[[nodiscard]] std::string_view name_of(FunctionClass function_class) noexcept;

struct FunctionFacts {
  FunctionClass function_class = FunctionClass::Unknown;
  /// What it is about: "file", "socket", "text"; empty for one that is unknown.
  std::string_view kind;
};

[[nodiscard]] FunctionFacts facts_of(std::string_view function);

/// Reads a list of functions that are defined anew and that nobody serves: "execv,popen". Throws
/// UsageError, which names what is expected, for another one.
[[nodiscard]] std::vector<std::string> parse_unserved(std::string_view text);

/// Whether this version of the function works on objects of another layout than the one that is
/// served: what is served would read them wrongly.
[[nodiscard]] bool has_old_layout(std::string_view function, std::string_view version) noexcept;

}  // namespace fermata::sim::detail
