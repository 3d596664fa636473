// SPDX-License-Identifier: Apache-2.0

// Which functions a file imports, and what becomes of each.

#include "fermata/sim/inspect/inspection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/guard/guarded_functions.hpp"
#include "fermata/sim/inspect/passed_functions.hpp"

namespace fermata::sim::detail {
namespace {

std::vector<std::string> names_of(const FunctionGroup& group) {
  std::istringstream names{std::string(group.names)};
  return {std::istream_iterator<std::string>(names), {}};
}

bool holds(const Inspection& found, FunctionClass function_class, std::string_view kind,
           const std::string& name) {
  const auto names = found.of(function_class).find(kind);
  return names != found.of(function_class).end() &&
         std::count(names->second.begin(), names->second.end(), name) == 1;
}

TEST(PassedFunctions, StandInOrderAndOnlyOnce) {
  std::set<std::string> all;
  for (const FunctionGroup& group : kPassedFunctions) {
    const std::vector<std::string> names = names_of(group);
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << group.kind;
    for (const std::string& name : names) EXPECT_TRUE(all.insert(name).second) << name;
  }
}

TEST(PassedFunctions, AreNeitherServedNorRefused) {
  for (const FunctionGroup& group : kPassedFunctions) {
    for (const std::string& name : names_of(group)) {
      EXPECT_EQ(name_of(facts_of(name).function_class), "passed") << name;
      EXPECT_EQ(facts_of(name).kind, group.kind) << name;
    }
  }
}

TEST(PassedFunctions, AreTheCLibrarys) {
  for (const FunctionGroup& group : kPassedFunctions) {
    for (const std::string& name : names_of(group)) {
      EXPECT_EQ(names_of_c_library().count(name), 1u) << name;
    }
  }
}

TEST(FunctionClass, OfWhatTheGuardWatchesIsKnown) {
  for (const std::string_view name : kGuardedFunctions) {
    if (name == "std::random_device") continue;  // It has another name in files.
    EXPECT_NE(facts_of(name).function_class, FunctionClass::Unknown) << name;
    EXPECT_NE(facts_of(name).function_class, FunctionClass::Passed) << name;
  }
}

TEST(FunctionClass, OfANameInNeitherListIsUnknown) {
  EXPECT_EQ(facts_of("fermata_test_is_nowhere").function_class, FunctionClass::Unknown);
  EXPECT_EQ(facts_of("").function_class, FunctionClass::Unknown);
  EXPECT_EQ(facts_of("ctermid").function_class, FunctionClass::Unknown);
}

TEST(UnservedFunctions, AreReadFromAList) {
  EXPECT_EQ(parse_unserved("popen,execv"), (std::vector<std::string>{"popen", "execv"}));
  EXPECT_TRUE(parse_unserved("").empty());
  for (const char* other : {"strlen", "read", "nothing", "popen,,execv", "fork"}) {
    EXPECT_THROW(static_cast<void>(parse_unserved(other)), UsageError) << other;
  }
}

TEST(Inspect, TellsTheFourClassesByKind) {
  const Inspection found = inspect(FERMATA_TEST_IMPORTER);
  EXPECT_TRUE(holds(found, FunctionClass::Served, "fdio", "read"));
  EXPECT_TRUE(holds(found, FunctionClass::Passed, "text", "strlen"));
  EXPECT_TRUE(holds(found, FunctionClass::Unserved, "process", "execv"));
  EXPECT_TRUE(holds(found, FunctionClass::Unknown, "", "ctermid"));
  EXPECT_GE(found.count(FunctionClass::Passed), 1u);
  EXPECT_TRUE(found.old_versions.empty());
  EXPECT_NO_THROW(require_no_old_versions("importer", found));
}

TEST(Inspect, CountsWhatComesWithoutAVersionWhenTheCLibraryHasIt) {
  const Inspection found = inspect(FERMATA_TEST_BARE);
  EXPECT_TRUE(holds(found, FunctionClass::Served, "process", "getpid"));
  EXPECT_FALSE(holds(found, FunctionClass::Unknown, "", "fermata_test_is_nowhere"));
}

TEST(Inspect, NamesOldVersionsAndRefusesTheFile) {
  const Inspection found = inspect(FERMATA_TEST_OLD_CONDITION);
  EXPECT_EQ(found.old_versions, std::vector<std::string>{"pthread_cond_wait@GLIBC_2.2.5"});
  try {
    require_no_old_versions("libold.so", found);
    FAIL() << "it is not refused";
  } catch (const Error& error) {
    EXPECT_EQ(std::string_view(error.what())
                  .find("libold.so is refused: it imports pthread_cond_wait@GLIBC_2.2.5"),
              0u)
        << error.what();
  }
}

}  // namespace
}  // namespace fermata::sim::detail
