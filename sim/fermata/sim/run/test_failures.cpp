// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/test_failures.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "fermata/sim/world/world.hpp"

namespace fermata::sim::detail {
namespace {

/// The lines of `text`, trimmed, in one.
std::string in_one_line(std::string_view text) {
  std::string line;
  bool gap = false;
  for (const char letter : text) {
    const bool blank = letter == ' ' || letter == '\n';
    if (!blank) {
      if (gap && !line.empty()) line += ' ';
      line += letter;
    }
    gap = blank;
  }
  return line;
}

}  // namespace

void TestFailures::ReportTestPartResult(const ::testing::TestPartResult& result) {
  if (!result.failed() || world_ == nullptr) return;
  const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
  world_->fail(Verdict::Safety,
               fmt::format("{}:{}: {}", file, result.line_number(), in_one_line(result.message())));
}

}  // namespace fermata::sim::detail
