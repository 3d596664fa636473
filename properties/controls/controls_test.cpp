// SPDX-License-Identifier: Apache-2.0

// What is wrong is told in time: programs that are wrong, and runtimes that are damaged.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "properties/controls/canary.hpp"
#include "properties/controls/damage.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/every.hpp"

namespace fermata::properties {
namespace {

using sim::Verdict;
using sim::detail::WaitClass;

class CanaryTest : public ::testing::TestWithParam<Canary> {};

TEST_P(CanaryTest, IsToldInTime) { EXPECT_EQ(complaint_about(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(Canaries, CanaryTest, ::testing::ValuesIn(canaries()),
                         [](const auto& each) { return std::string(each.param.name); });

class DamageTest : public ::testing::TestWithParam<Damage> {};

TEST_P(DamageTest, IsToldInTime) {
  const Damage& damage = GetParam();
  const std::string complaint = complaint_about(damage);
  FERMATA_CHECKS(damage.id);
  EXPECT_EQ(complaint, "");
  for (const char* id : damage.also) {
    FERMATA_CHECKS(id);
    EXPECT_EQ(complaint, "");
  }
}

INSTANTIATE_TEST_SUITE_P(Damages, DamageTest, ::testing::ValuesIn(damages()), [](const auto& each) {
  return fmt::format("{}_{}", std::regex_replace(each.param.id, std::regex("-"), "_"), each.index);
});

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Damages, AreThereForWhateverTheAuditComplainsAbout) {
  std::set<std::string> known;
  for (const Damage& each : damages()) known.insert(each.id);
  std::set<std::string> complaints;
  const std::regex complaint("complain\\(\\s*\"(CORE-[A-Z]+-[0-9]+)\"");
  for (const char* part : {"audit.cpp", "audit_recount.cpp", "audit_scopes.cpp"}) {
    const std::string text =
        text_of(FERMATA_SOURCE_DIR "/sim/fermata/sim/audit/" + std::string(part));
    for (std::sregex_iterator each(text.begin(), text.end(), complaint), end; each != end; ++each) {
      complaints.insert((*each)[1]);
    }
  }
  EXPECT_GT(complaints.size(), 15u);
  for (const std::string& id : complaints) EXPECT_TRUE(known.contains(id)) << id;
}

// --- nothing is without one ---

/// Whether one of the canaries fits.
template <class Fits>
bool any_canary(Fits fits) {
  const std::vector<Canary> all = canaries();
  return std::any_of(all.begin(), all.end(), fits);
}

template <class Enum>
bool has_canary(Enum kind) {
  return any_canary([&](const Canary& each) { return each.kind == CanaryClass(kind); });
}

/// A new kind that is not here is one that the compiler complains about.
const char* name_of(backend::AssertionKind kind) {
  switch (kind) {
    case backend::AssertionKind::Always:
      return "always";
    case backend::AssertionKind::Unreachable:
      return "unreachable";
    case backend::AssertionKind::Sometimes:
      return "sometimes";
    case backend::AssertionKind::Reachable:
      return "reachable";
    case backend::AssertionKind::Eventually:
      return "eventually";
  }
  return "always";
}

TEST(Canaries, AreThereForEachVerdict) {
  for (const Verdict verdict : test::every<Verdict>(sim::to_string)) {
    if (verdict == Verdict::Divergence) continue;  // Only a replay gives it.
    EXPECT_TRUE(any_canary([&](const Canary& each) { return each.verdict == verdict; }))
        << to_string(verdict);
  }
}

TEST(Canaries, AreThereForEachClassOfDeadlock) {
  for (const WaitClass kind : test::every<WaitClass>(sim::detail::to_string)) {
    EXPECT_TRUE(has_canary(kind)) << sim::detail::to_string(kind);
  }
}

TEST(Canaries, AreThereForEachKindOfAssertion) {
  for (const backend::AssertionKind kind : test::every<backend::AssertionKind>(name_of)) {
    EXPECT_TRUE(has_canary(kind)) << name_of(kind);
  }
}

TEST(Canaries, AreThereForEachKindOfLeak) {
  for (const backend::EventKind kind : test::every<backend::EventKind>(backend::to_string)) {
    EXPECT_TRUE(has_canary(kind)) << to_string(kind);
  }
}

}  // namespace
}  // namespace fermata::properties
