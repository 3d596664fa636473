// SPDX-License-Identifier: Apache-2.0
#pragma once

// A test program: which simulated tests it has, and whether it is the same as some time ago.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "fermata/sim/cli/child.hpp"

namespace fermata::sim::cli {

struct ListedTest {
  std::string name;   // "Suite.Name"
  std::string place;  // "file:line"

  /// Whether the test is disabled, by GoogleTest's rules.
  [[nodiscard]] bool is_disabled() const;
};

/// What a filter selects of a program.
struct Selection {
  std::vector<ListedTest> tests;
  /// How many it would select that are disabled.
  std::size_t left_out = 0;
};

class TestBinary {
 public:
  static constexpr std::chrono::milliseconds kPatience{30'000};

  /// Throws UsageError when there is no such program, or it does not list simulated tests within
  /// `limit`.
  explicit TestBinary(const std::string& path, std::chrono::milliseconds limit = kPatience);

  /// Absolute.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The path as it was typed, quoted for a shell.
  [[nodiscard]] const std::string& typed() const noexcept { return typed_; }
  [[nodiscard]] const std::vector<ListedTest>& tests() const noexcept { return tests_; }
  /// How many tests it has that are not simulated.
  [[nodiscard]] std::size_t others() const noexcept { return others_; }
  /// A hash of the file: "9f3c2ab41b0c77aa".
  [[nodiscard]] const std::string& build() const noexcept { return build_; }

  /// The simulated tests that `filter` selects, without the disabled ones unless they are wanted.
  [[nodiscard]] Selection select(const std::string& filter, bool disabled) const;
  /// These tests. Throws UsageError when there are none.
  [[nodiscard]] std::vector<ListedTest> selected(const std::string& filter, bool disabled) const;

  /// The command that runs the test `name` and no other.
  [[nodiscard]] Command command_for(const std::string& name) const;

 private:
  void list(std::chrono::milliseconds limit);

  std::string path_;
  std::string typed_;
  std::vector<ListedTest> tests_;
  std::size_t others_ = 0;
  std::string build_;
};

/// Throws the UsageError for a filter that selects no test of `binaries`.
[[noreturn]] void refuse_selection(const std::vector<std::unique_ptr<TestBinary>>& binaries,
                                   const std::string& filter, bool disabled);

}  // namespace fermata::sim::cli
