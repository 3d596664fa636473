// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/canary.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/run/sim_test.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::sim {
namespace {

/// Both deposits are seen when the first is through before the second begins, as in production.
void lose_an_update(World& /*world*/) {
  int balance = 0;
  const auto quick = spawn("quick", [&] { ++balance; });
  const auto slow = spawn("slow", [&] {
    const int seen = balance;
    suspend();
    balance = seen + 1;
  });
  await(quick);
  await(slow);
  EXPECT_EQ(balance, 2) << "the canary: planted, and found as it should be";
}

class Canary final : public ::testing::Test {
  void TestBody() override { detail::run_sim_test(&lose_an_update); }
};

}  // namespace

void add_canary() {
  const std::string name = kCanaryTest;
  const std::size_t dot = name.find('.');
  FERMATA_ASSERT(dot < name.size());
  ::testing::RegisterTest(name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr,
                          nullptr, __FILE__, __LINE__,
                          []() -> ::testing::Test* { return new Canary; });
}

void add_canary_if_asked() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  if (arguments.find(kCanaryTest) != std::string::npos) add_canary();
}

}  // namespace fermata::sim
