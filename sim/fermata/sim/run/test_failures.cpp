// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/test_failures.hpp"

#include <fmt/format.h>
#include <gtest/gtest-spi.h>

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

// Reports a result to itself, instead of to whom GoogleTest would.
class TestFailures::Interceptor final : private ::testing::TestPartResultArray,
                                        public ::testing::ScopedFakeTestPartResultReporter {
 public:
  Interceptor() : ScopedFakeTestPartResultReporter(INTERCEPT_ONLY_CURRENT_THREAD, this) {}

  void ReportTestPartResult(const ::testing::TestPartResult& result) override {
    if (result.passed() || world == nullptr) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "unknown file";
    const auto placed = [&](std::string_view text) {
      return fmt::format("{}:{}: {}", file, result.line_number(), text);
    };
    if (result.skipped()) return world->skip(placed(in_one_line(result.message())));
    world->fail(Verdict::Safety, placed(in_one_line(result.message())), placed(result.message()));
  }

  World* world = nullptr;
};

TestFailures::TestFailures() : interceptor_(std::make_unique<Interceptor>()) {}
TestFailures::~TestFailures() = default;

void TestFailures::belong_to(World& world) noexcept { interceptor_->world = &world; }

}  // namespace fermata::sim::detail
