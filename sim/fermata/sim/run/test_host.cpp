// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/test_host.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {
namespace {

TestHost* present_host = nullptr;

}  // namespace

TestHost::TestHost(std::string name, std::vector<std::string> arguments)
    : name_(std::move(name)), arguments_(std::move(arguments)) {
  FERMATA_REQUIRE(present_host == nullptr, "a simulated test cannot run another one");
  FERMATA_ASSERT(!name_.empty());
  FERMATA_ASSERT(!arguments_.empty());
  present_host = this;
}

TestHost::~TestHost() {
  FERMATA_ASSERT(present_host == this);
  present_host = nullptr;
}

const TestHost* test_host() noexcept { return present_host; }

void fail_test(const std::string& report) {
  FERMATA_ASSERT(!report.empty());
  if (present_host != nullptr) return present_host->fail(report);
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  FERMATA_ASSERT(test != nullptr);
  ADD_FAILURE_AT(test->file(), test->line()) << report;
}

void skip_test(const std::string& reason) {
  FERMATA_ASSERT(!reason.empty());
  if (present_host != nullptr) return present_host->skip(reason);
  GTEST_SKIP() << reason;
}

void note_of_test(const std::string& property, const std::string& value) {
  FERMATA_ASSERT(!property.empty());
  if (present_host == nullptr) ::testing::Test::RecordProperty(property, value);
}

}  // namespace fermata::sim::detail
