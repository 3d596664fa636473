// SPDX-License-Identifier: Apache-2.0

// What waits for several at once, when a run is abandoned and everybody in it unwound by force.

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/iterate.hpp"
#include "fermata/sync/select.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/impatient.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Counts who is unwound, and fails when somebody notices.
class UnwoundByForce {
 public:
  template <class Action>
  void operator()(Action action) {
    struct Leave {
      ~Leave() { ++number; }
      int& number;
    } const leave{number_};
    try {
      action();
    } catch (const Cancellation&) {
      ADD_FAILURE() << "was cancelled";
    }
    ADD_FAILURE() << "went on";
  }
  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_ = 0;
};

TEST(AbandonedRun, UnwindsWaitsForSeveral) {
  FERMATA_CHECKS("CORE-SC-14");
  Impatient observer(12);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime fixture(options);
  UnwoundByForce unwound;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto sleep = [&] { unwound([] { delay(1h); }); };
                spawn([&] { unwound([&] { when_all_settled({spawn(sleep), spawn(sleep)}); }); });
                spawn([&] { unwound([&] { iterate(std::vector{1, 2}, [&](int) { sleep(); }); }); });
                spawn([&] {
                  Promise<int> promise;
                  const auto mapped = promise.future().map([&](int) { return sleep(), 0; });
                  promise.complete(1);
                  unwound([&] { await(mapped); });
                });
                for (;;) suspend();
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(unwound.number(), 8);
  EXPECT_TRUE(fixture.runtime.registry().empty());
  EXPECT_EQ(fixture.runtime.active_event_count(), 0u);
  EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
}

/// Selects when its coroutine is unwound.
struct Farewell {
  ~Farewell() {
    try {
      select(on_receive(never, [](std::optional<int>) {}), on_timeout(1h, [] {}));
    } catch (const ForcedUnwind&) {
      is_told = true;
    }
  }
  const Channel<int>& never;
  bool& is_told;
};

TEST(AbandonedRun, EndsASelectOfADestructor) {
  Impatient observer(12);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime fixture(options);
  bool is_told = false;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                spawn([&] {
                  const Channel<int> never("never", 1);
                  const Farewell farewell{never, is_told};
                  delay(1h);
                });
                for (;;) suspend();
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_TRUE(is_told);
  EXPECT_TRUE(fixture.runtime.registry().empty());
}

}  // namespace
}  // namespace fermata::test
