// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/catalogue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/assertions.hpp"
#include "fermata/sim/record/catalogue_json.hpp"

namespace fermata::sim {
namespace {

Claim some_claim(backend::AssertionKind kind, const std::string& message,
                 AssertionCounts counts = {}) {
  return Claim{kind, false, message, "file.cpp:7", "x > 0", counts};
}

void one_place() { FERMATA_SOMETIMES(false, "claimed in two places"); }
void another_place() { FERMATA_SOMETIMES(true, "claimed in two places"); }

TEST(Catalogue, SitesOfOneMessageAreOneObligation) {
  if (false) one_place(), another_place();
  std::vector<AssertionCounts> counts(backend::assertion_site_count());
  int sites = 0;
  for (const backend::AssertionSite* site = backend::assertion_sites(); site != nullptr;
       site = site->next) {
    if (std::string(site->message) != "claimed in two places") continue;
    counts[site->index].add(++sites == 1, 0);
  }
  EXPECT_EQ(sites, 2);
  std::vector<Claim> found;
  for (const Claim& claim : Catalogue::of_program(counts).claims()) {
    if (claim.message == "claimed in two places") found.push_back(claim);
  }
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found.front().is_obligation());
  EXPECT_FALSE(found.front().is_missed());
  EXPECT_EQ(found.front().counts.reached, 2u);
}

TEST(Catalogue, WhatIsMetAnywhereIsMet) {
  Catalogue one, other;
  one.add(some_claim(backend::AssertionKind::Sometimes, "a", {4, 0, 0, 0}));
  one.add(some_claim(backend::AssertionKind::Reachable, "b"));
  other.add(some_claim(backend::AssertionKind::Sometimes, "a", {3, 1, 0, 0}));
  EXPECT_EQ(one.missed().size(), 2u);
  one.add(other);
  ASSERT_EQ(one.missed().size(), 1u);
  EXPECT_EQ(one.missed().front().message, "b");
  EXPECT_EQ(one.claims().front().counts.reached, 7u);
}

TEST(Catalogue, HasNoSlackWhereOneSiteComparesNoNumbers) {
  Claim with = some_claim(backend::AssertionKind::Sometimes, "a", {1, 0, -5, -5});
  with.numeric = true;
  const Claim without = some_claim(backend::AssertionKind::Sometimes, "a", {1, 0, 0, 0});
  Catalogue one, other;
  one.add(with), one.add(without);
  other.add(without), other.add(with);
  EXPECT_EQ(one.claims().front().text(), other.claims().front().text());
  EXPECT_FALSE(one.claims().front().numeric);
}

TEST(Catalogue, OnlySometimesAndReachableOblige) {
  Catalogue catalogue;
  for (const backend::AssertionKind kind :
       {backend::AssertionKind::Always, backend::AssertionKind::Unreachable,
        backend::AssertionKind::Eventually}) {
    catalogue.add(some_claim(kind, "never reached"));
  }
  EXPECT_EQ(catalogue.claims().size(), 3u);
  EXPECT_EQ(catalogue.obligations(), 0u);
}

TEST(Catalogue, KindsAreReadAsTheyAreWritten) {
  for (const backend::AssertionKind kind :
       {backend::AssertionKind::Always, backend::AssertionKind::Unreachable,
        backend::AssertionKind::Sometimes, backend::AssertionKind::Reachable,
        backend::AssertionKind::Eventually}) {
    EXPECT_EQ(assertion_kind_of(to_string(kind)), kind);
  }
  EXPECT_THROW(static_cast<void>(assertion_kind_of("seldom")), UsageError);
}

TEST(Catalogue, IsWrittenAsJson) {
  Catalogue catalogue;
  Claim numeric = some_claim(backend::AssertionKind::Sometimes, "say \"a\"", {2, 0, -5, -1});
  numeric.numeric = true;
  catalogue.add(numeric);
  EXPECT_EQ(json_text(json_of(catalogue)),
            R"([{"kind":"sometimes","message":"say \"a\"","place":"file.cpp:7",)"
            R"("condition":"x > 0","numeric":true,"reached":2,"held":0,"least":-5,"most":-1}])");
  const Catalogue again = catalogue_of(json_of(catalogue));
  EXPECT_EQ(json_of(again), json_of(catalogue));
  EXPECT_THROW(static_cast<void>(catalogue_of({{{"kind", "seldom"}}})), UsageError);
}

}  // namespace
}  // namespace fermata::sim
