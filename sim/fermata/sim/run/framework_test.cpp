// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/framework_test.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/run/sim_test.hpp"
#include "fermata/sim/run/test_host.hpp"

namespace fermata::sim {
namespace {

/// Keeps what it is told for whoever called.
class KeepingHost final : public detail::TestHost {
 public:
  explicit KeepingHost(const FrameworkTest& test) : TestHost(test.name, test.arguments) {}

  void fail(const std::string& report) override {
    if (!result_.failure.empty()) result_.failure += '\n';
    result_.failure += report;
  }
  void skip(const std::string& reason) override { result_.skip_reason = reason; }

  [[nodiscard]] const FrameworkResult& result() const noexcept { return result_; }

 private:
  FrameworkResult result_;
};

bool fits_a_folder(char letter) {
  return static_cast<unsigned char>(letter) >= ' ' && letter != '/';
}

void check(const FrameworkTest& test) {
  const bool valid = !test.name.empty() && test.name != "." && test.name != ".." &&
                     std::all_of(test.name.begin(), test.name.end(), fits_a_folder);
  if (!valid) {
    throw UsageError(fmt::format(
        "explore_test: the name '{}' is not valid; expected one that can be that of a folder, "
        "without slashes and control characters",
        test.name));
  }
  if (test.arguments.empty()) {
    throw UsageError(
        fmt::format("explore_test: '{}' has no arguments; expected those with which this program "
                    "runs this test alone",
                    test.name));
  }
}

}  // namespace

FrameworkResult explore_test(const FrameworkTest& test,
                             const std::function<void(World& world)>& body) {
  FERMATA_REQUIRE(body != nullptr, "explore_test: a simulated test needs a body");
  check(test);
  KeepingHost host(test);
  Program program;
  program.body = body;
  detail::run_sim_test(program);
  FERMATA_ASSERT(detail::test_host() == &host);
  return host.result();
}

}  // namespace fermata::sim
