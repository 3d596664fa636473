// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/assertions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using test::error_of;
using test::TestRuntime;

const backend::AssertionSite* find_site(const std::string& message) {
  for (const backend::AssertionSite* site = backend::assertion_sites(); site != nullptr;
       site = site->next) {
    if (site->message == message) return site;
  }
  return nullptr;
}

std::string with_file(const std::string& what) {
  return what.substr(0, what.rfind(" at ")) + " at " + what.substr(what.rfind('/') + 1);
}

// --- who is known ---

void never_called() { FERMATA_SOMETIMES(false, "a function that nobody calls"); }

struct Uncalled {
  void member() { FERMATA_REACHABLE("a member that nobody calls"); }
};

template <class T>
void instantiated(T value) {
  FERMATA_SOMETIMES(value > 0, "an instance that nobody calls");
}

TEST(AssertionSites, AreKnownThoughNobodyComesToThem) {
  if (false) {
    never_called();
    instantiated(1);
  }
  for (const char* message : {"a function that nobody calls", "a member that nobody calls",
                              "an instance that nobody calls"}) {
    const backend::AssertionSite* site = find_site(message);
    ASSERT_NE(site, nullptr) << message;
    EXPECT_TRUE(site->is_obligation()) << message;
    EXPECT_NE(std::string(site->file).find("assertions_test.cpp"), std::string::npos);
  }
}

TEST(AssertionSites, HaveAnIndexEach) {
  std::vector<bool> seen(backend::assertion_site_count());
  for (const backend::AssertionSite* site = backend::assertion_sites(); site != nullptr;
       site = site->next) {
    ASSERT_LT(site->index, seen.size());
    EXPECT_FALSE(seen[site->index]) << site->message;
    seen[site->index] = true;
  }
}

// --- in production ---

void claim(int left) {
  FERMATA_ALWAYS(left >= 0, "no more is sold than there is", "left", left, "of", "apples");
}

TEST(Assertions, AlwaysIsAPlainCheck) {
  EXPECT_NO_THROW(claim(0));
  EXPECT_EQ(with_file(error_of([] { claim(-3); })).substr(0, 84),
            "does not hold: no more is sold than there is (left >= 0; left = -3, of = apples) at ");
  TestRuntime test;
  EXPECT_THROW(test.run([] { claim(-1); }), AssertionFailed);
}

TEST(Assertions, UnreachableIsOne) {
  const std::string what = error_of([] { FERMATA_UNREACHABLE("no request", "id", 7u); });
  EXPECT_EQ(what.substr(0, what.rfind(" at ")),
            "reached, though it must not be: no request (id = 7)");
}

TEST(Assertions, ConditionsAreEvaluatedOnceAndDetailsOnlyAtAFailure) {
  int conditions = 0, details = 0;
  FERMATA_ALWAYS(++conditions == 1, "once", "details", ++details);
  EXPECT_EQ(std::pair(conditions, details), std::pair(1, 0));
  FERMATA_ALWAYS_EQ(++conditions, 2, "once with numbers", "details", ++details);
  EXPECT_EQ(std::pair(conditions, details), std::pair(2, 0));
}

TEST(Assertions, OthersDoNotEvenLookAtTheirConditions) {
  TestRuntime test;
  test.run([] {
    int evaluated = 0;
    FERMATA_SOMETIMES(++evaluated > 0, "not looked at");
    FERMATA_SOMETIMES_GE(++evaluated, 1, "not looked at either");
    FERMATA_EVENTUALLY(1s, ++evaluated > 0, "not watched");
    FERMATA_REACHABLE("not counted");
    suspend();
    EXPECT_EQ(evaluated, 0);
  });
}

TEST(Assertions, StandWhereAStatementCan) {
  const std::map<int, int> map = {{1, 2}};
  if (map.empty())
    FERMATA_UNREACHABLE("an empty map");
  else
    FERMATA_SOMETIMES((std::map<int, int>{{1, 2}} == map), "commas");
  const auto [key, value] = *map.begin();
  FERMATA_ALWAYS(key < value, "structured bindings", "key", key, "value", value);
  FERMATA_ALWAYS_LT(key, value, "structured bindings with numbers", "key", key);
}

TEST(AssertionsDeathTest, AbortWhereTheRuntimeSaysSo) {
  TestRuntime test({.abort_on_failed_assertion = true});
  EXPECT_DEATH(test.run([] { claim(-3); }),
               "fermata: does not hold: no more is sold .*left = -3.*assertions_test.cpp");
}

// --- numbers ---

TEST(AssertionNumbers, AreComparedByValue) {
  EXPECT_NO_THROW(FERMATA_ALWAYS_LT(-1, 1u, "signs"));
  EXPECT_NO_THROW(FERMATA_ALWAYS_GT(std::numeric_limits<std::uint64_t>::max(), -1, "widths"));
  EXPECT_NO_THROW(FERMATA_ALWAYS_LE(999ms, 1s, "units"));
  EXPECT_NO_THROW(FERMATA_ALWAYS_GE(2, 2, "equal"));
  EXPECT_NO_THROW(FERMATA_ALWAYS_NE(2, 3, "different"));
  EXPECT_THROW(FERMATA_ALWAYS_LT(2, 2, "not less"), AssertionFailed);
  EXPECT_THROW(FERMATA_ALWAYS_GT(2, 2, "not more"), AssertionFailed);
  EXPECT_THROW(FERMATA_ALWAYS_NE(2, 2, "not different"), AssertionFailed);
  EXPECT_THROW(FERMATA_ALWAYS_EQ(2, 3, "not equal"), AssertionFailed);
}

TEST(AssertionNumbers, AreTold) {
  const int queued = 9, limit = 8;
  const std::string what = error_of([&] { FERMATA_ALWAYS_LE(queued, limit, "short", "of", 'x'); });
  EXPECT_EQ(what.substr(0, what.rfind(" at ")),
            "does not hold: short (queued <= limit; left = 9, right = 8, of = 'x')");
  EXPECT_NE(error_of([] { FERMATA_ALWAYS_LE(2ms, 1ms, "soon"); }).find("left = 2000000 ns"),
            std::string::npos);
}

/// Keeps what it is told, as the simulator does.
class Witness final : public backend::Observer {
 public:
  Witness() : backend::Observer(backend::TraceKinds()) {}
  void end_step(Runtime&) override {}
  void reached(const backend::AssertionSite& site, bool holds, std::int64_t slack) override {
    seen.push_back(std::string(site.message) + (holds ? " holds " : " fails ") +
                   std::to_string(slack));
  }
  bool violated(const backend::AssertionSite& site, const std::string& details) override {
    seen.push_back(std::string(site.message) + ": " + details);
    return matters;
  }
  void pledged(detail::Pledge& pledge) override { seen.emplace_back(pledge.site().message); }
  void end_of_pledge(detail::Pledge& pledge, bool by_exception) noexcept override {
    seen.push_back(std::string("end of ") + pledge.site().message +
                   (by_exception ? " by exception" : ""));
  }

  std::vector<std::string> seen;
  bool matters = true;

 private:
  void note(backend::Trace, const Event*, std::uint64_t) override {}
};

class ObservedAssertions : public ::testing::Test {
 protected:
  std::vector<std::string> seen_in(const std::function<void()>& body) {
    TestRuntime test({.observer = &witness});
    test.run(body);
    return witness.seen;
  }
  Witness witness;
};

using Lines = std::vector<std::string>;

TEST_F(ObservedAssertions, AreToldWithTheirSlack) {
  EXPECT_EQ(
      seen_in([] {
        FERMATA_SOMETIMES(1 > 2, "plain");
        FERMATA_SOMETIMES_GE(1, 3, "ge");
        FERMATA_SOMETIMES_GT(3, 3, "gt");
        FERMATA_SOMETIMES_EQ(5, 3, "eq");
        FERMATA_SOMETIMES_NE(5, 3, "ne");
        FERMATA_ALWAYS_LE(1, 3, "le");
        FERMATA_ALWAYS_LT(1, 3, "lt");
        FERMATA_SOMETIMES_LE(std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::max(), "clamped");
        FERMATA_REACHABLE("here");
      }),
      (Lines{"plain fails 0", "ge fails -2", "gt fails -1", "eq fails -2", "ne holds 1",
             "le holds 2", "lt holds 1", "clamped holds 9223372036854775807", "here holds 0"}));
}

TEST_F(ObservedAssertions, FailuresThatDoNotMatterGoOn) {
  witness.matters = false;
  EXPECT_EQ(seen_in([] { claim(-1); }),
            (Lines{"no more is sold than there is fails 0",
                   "no more is sold than there is: left = -1, of = apples"}));
}

TEST_F(ObservedAssertions, ThrowNothingWhileAnExceptionIsUnderWay) {
  const Lines lines = seen_in([] {
    struct Careless {
      ~Careless() { FERMATA_ALWAYS(false, "in a destructor"); }
    };
    try {
      const Careless careless;
      throw Error("as planned");
    } catch (const Error&) {
    }
  });
  EXPECT_EQ(lines, (Lines{"in a destructor fails 0", "in a destructor: "}));
}

TEST_F(ObservedAssertions, PledgesEndWithTheirScope) {
  EXPECT_EQ(seen_in([] {
              try {
                FERMATA_EVENTUALLY(1s, true, "outer");
                { FERMATA_EVENTUALLY(1s, true, "inner"); }
                throw Error("as planned");
              } catch (const Error&) {
              }
            }),
            (Lines{"outer", "inner", "end of inner", "end of outer by exception"}));
}

}  // namespace
}  // namespace fermata
