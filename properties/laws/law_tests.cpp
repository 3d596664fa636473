// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/law_tests.hpp"

#include <gtest/gtest.h>

#include <fermata/sim_property.hpp>
#include <tuple>

#include "properties/laws/holds.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

class LawTest final : public ::testing::Test {
 public:
  LawTest(const Law& law, void (*body)(const Law&)) : law_(law), body_(body) {}
  void TestBody() override { body_(law_); }

 private:
  const Law& law_;
  void (*body_)(const Law&);
};

void expect_property(const Law& law) {
  sim::detail::run_sim_property(rc::gen::tuple(law.scenarios()),
                                [](sim::World& world, const std::tuple<Scenario>& scenario) {
                                  std::get<Scenario>(scenario).play(world);
                                });
}

void expect_other_strategies(const Law& law) {
  ASSERT_TRUE(holds_under_other_strategies(law));
  for (const char* id : law.invariants) testing::note_checked(id);
}

}  // namespace

void add_tests(const Law& law, const char* suite, const char* property, const char* strategies,
               const SourcePlace& place) {
  const int line = static_cast<int>(place.line);
  const auto add = [&](const char* name, void (*body)(const Law&)) {
    ::testing::RegisterTest(suite, name, nullptr, nullptr, place.file, line,
                            [&law, body]() -> ::testing::Test* { return new LawTest(law, body); });
  };
  sim::detail::register_simulated_test(suite, property, place.file, line);
  add(property, &expect_property);
  add(strategies, &expect_other_strategies);
}

}  // namespace fermata::properties
