// SPDX-License-Identifier: Apache-2.0
#pragma once

// What expected.tsv says of each program, and the programs' sources.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

struct Expected {
  std::string name;
  /// One of the verdicts, or several with '|' between.
  std::string verdict;
  std::size_t minimum = 0;
  /// One, or several with '|' between.
  std::string coroutine;
  std::string line;
  /// The other coroutine, or "decision".
  std::string against;
  /// A line; of a decision what its sentence has, or several with '|' between.
  std::string against_line;

  [[nodiscard]] bool is_decision() const { return against == "decision"; }
};

/// In the order of the table. A row that cannot be read fails the running test.
[[nodiscard]] std::vector<Expected> read_expected();

/// Whether `text` has one of those that stand in `alternatives` with '|' between.
[[nodiscard]] bool has_one_of(std::string_view text, std::string_view alternatives);

/// Whether `text` is one of those.
[[nodiscard]] bool is_one_of(std::string_view text, std::string_view alternatives);

/// The application called `name`; null when there is none.
[[nodiscard]] const Application* find_application(std::string_view name);

/// The text of "lost_update.cpp" for "LostUpdate".
[[nodiscard]] std::string source_of(std::string_view name);

}  // namespace fermata::properties::zoo
