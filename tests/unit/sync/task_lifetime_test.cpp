// SPDX-License-Identifier: Apache-2.0

// Who frees the frames of Tasks, and when: cancelled, unwound by force, destroyed before they ran.

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"
#include "fermata/sync/task.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/impatient.hpp"
#include "tests/support/runtime_fixture.hpp"

namespace fermata::test {
namespace {

using namespace std::chrono_literals;

/// Notes its name when it goes; copies do not.
class NoteOfEnd {
 public:
  NoteOfEnd(std::vector<std::string>& gone, std::string name)
      : gone_(&gone), name_(std::move(name)) {}
  NoteOfEnd(NoteOfEnd&& other) noexcept
      : gone_(std::exchange(other.gone_, nullptr)), name_(std::move(other.name_)) {}
  ~NoteOfEnd() {
    if (gone_ != nullptr) gone_->push_back(name_);
  }

 private:
  std::vector<std::string>* gone_;
  std::string name_;
};

class TaskLifetime : public RuntimeFixture {
 protected:
  Task<> innermost(NoteOfEnd /*argument*/) {
    const NoteOfEnd local(gone, "local of the innermost");
    co_await fermata::after(1h);
  }
  Task<> middle(NoteOfEnd /*argument*/) {
    const NoteOfEnd local(gone, "local of the middle");
    co_await innermost(NoteOfEnd(gone, "argument of the innermost"));
  }
  Task<> chain() {
    const NoteOfEnd local(gone, "local of the first");
    co_await middle(NoteOfEnd(gone, "argument of the middle"));
  }

  std::vector<std::string> gone;
  const std::vector<std::string> innermost_first{"local of the innermost",
                                                 "argument of the innermost", "local of the middle",
                                                 "argument of the middle", "local of the first"};
};

MAIN_TEST_F(TaskLifetime, GoesWithoutHavingRun) {
  { const Task<> task = innermost(NoteOfEnd(gone, "argument")); }
  EXPECT_EQ(gone, std::vector<std::string>{"argument"});
  Task<> task = innermost(NoteOfEnd(gone, "replaced"));
  task = innermost(NoteOfEnd(gone, "moved"));
  { const Task<> other = std::move(task); }
  EXPECT_EQ(gone, (std::vector<std::string>{"argument", "replaced", "moved"}));
}

TEST_F(TaskLifetime, NeedsNoRuntimeUnlessItRuns) {
  { const Task<> task = innermost(NoteOfEnd(gone, "argument")); }
  EXPECT_EQ(gone, std::vector<std::string>{"argument"});
}

MAIN_TEST_F(TaskLifetime, IsUnwoundByACancellationFromTheInnermostOut) {
  const auto carrier = spawn("carrier", chain());
  delay(1ms);
  carrier.cancel();
  EXPECT_EQ(end_of(carrier), "fermata::Cancellation: Coroutine cancelled");
  EXPECT_EQ(gone, innermost_first);
}

MAIN_TEST_F(TaskLifetime, GoesWithACoroutineThatIsCancelledBeforeItStarts) {
  const auto carrier = spawn("carrier", innermost(NoteOfEnd(gone, "argument")));
  carrier.cancel();
  EXPECT_THROW(await(carrier), Cancellation);
  EXPECT_EQ(gone, std::vector<std::string>{"argument"});
}

MAIN_TEST_F(TaskLifetime, CanHandleACancellationOfWhatItAwaits) {
  const auto body = [&]() -> Task<std::string> {
    const auto job = spawn("job", [] { delay(1h); });
    job.cancel();
    try {
      co_await job;
    } catch (const Cancellation& error) {
      co_return error.what();
    }
    co_return "not cancelled";
  };
  EXPECT_EQ(await(body()), "coroutine 'job' was cancelled: Coroutine cancelled");
}

MAIN_TEST_F(TaskLifetime, KeepsACancellationForAfterAProtectedPart) {
  bool saved = false;
  const auto body = [&]() -> Task<> {
    co_await operation([&] { protect([&] { delay(5ms), saved = true; }); });
    ADD_FAILURE() << "went on";
  };
  const auto carrier = spawn("carrier", body());
  delay(1ms);
  carrier.cancel();
  EXPECT_THROW(await(carrier), Cancellation);
  EXPECT_TRUE(saved);
}

/// Waits in its destructor.
struct WaitsInDestructor {
  int& ended;
  ~WaitsInDestructor() {
    protect_in_destructor([&] { delay(2ms); });
    ++ended;
  }
};

MAIN_TEST_F(TaskLifetime, WaitsInDestructorsWhileItIsUnwound) {
  int ended = 0;
  const auto inner = [&](std::unique_ptr<WaitsInDestructor> /*argument*/) -> Task<> {
    const WaitsInDestructor local{ended};
    co_await fermata::after(1h);
  };
  const auto outer = [&]() -> Task<> {
    const WaitsInDestructor local{ended};
    co_await inner(std::unique_ptr<WaitsInDestructor>(new WaitsInDestructor{ended}));
  };
  const auto carrier = spawn("carrier", outer());
  delay(1ms);
  carrier.cancel();
  const Instant before = now();
  EXPECT_THROW(await(carrier), Cancellation);
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(now() - before, 6ms);
}

/// What code does that must not be unwound by anything else than force.
Task<> waits_until_the_end(Promise<> never, int& unwound, int depth) {
  struct Leave {
    int& count;
    ~Leave() { ++count; }
  } const leave{unwound};
  try {
    if (depth > 0) co_await waits_until_the_end(never, unwound, depth - 1);
    co_await never.future();
  } catch (const Cancellation&) {
    ADD_FAILURE() << "was cancelled";
  }
  ADD_FAILURE() << "went on";
}

TEST(AbandonedRunOfTasks, UnwindsThemByForce) {
  FERMATA_CHECKS("CORE-SC-14");
  Impatient observer(12);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime fixture(options);
  int unwound = 0;
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                Promise<> never;
                never.ignore();
                const auto a = spawn("a", waits_until_the_end(never, unwound, 0));
                const auto b = spawn("b", waits_until_the_end(never, unwound, 3));
                const auto task = waits_until_the_end(never, unwound, 0);
                for (;;) suspend();
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(unwound, 5);
  EXPECT_TRUE(fixture.runtime.registry().empty());
  EXPECT_EQ(fixture.runtime.active_event_count(), 0u);
  EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
}

TEST(AbandonedRunOfTasks, GoesOnWithDestructorsThatWait) {
  Impatient observer(12);
  RuntimeOptions options;
  options.observer = &observer;
  TestRuntime fixture(options);
  int ended = 0;
  const auto inner = [&](std::unique_ptr<WaitsInDestructor> /*argument*/) -> Task<> {
    const WaitsInDestructor local{ended};
    co_await fermata::after(1h);
  };
  const auto outer = [&]() -> Task<> {
    const WaitsInDestructor local{ended};
    co_await inner(std::unique_ptr<WaitsInDestructor>(new WaitsInDestructor{ended}));
  };
  EXPECT_EQ(thrown_by([&] {
              fixture.run([&] {
                const auto carrier = spawn("carrier", outer());
                for (;;) suspend();
              });
            }),
            "fermata::backend::AbandonRun");
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(fixture.runtime.blocks().blocks_in_use(), 0u);
}

// --- each copy goes once, whatever the compiler makes of temporaries ---

struct Counted {
  inline static int alive = 0;
  Counted() { ++alive; }
  Counted(const Counted&) { ++alive; }
  ~Counted() { --alive; }
};

Task<int> takes(Counted /*by_value*/, const Counted& /*by_reference*/, std::string text) {
  co_await fermata::after(1ms);
  co_return static_cast<int>(text.size());
}

MAIN_TEST_F(TaskLifetime, DestroysTemporariesOnce) {
  const auto body = [](bool fail) -> Task<int> {
    int sum = co_await takes(Counted(), Counted(), "a text that is longer than a small one");
    const auto named = [kept = Counted(), fail, text = std::string(40, 'x')] {
      delay(1ms);
      if (fail) throw Error("on purpose");
      return static_cast<int>(text.size());
    };
    sum += co_await takes(Counted(), Counted(), std::string(40, 'y')) + co_await operation(named);
    co_return sum;
  };
  EXPECT_EQ(await(body(false)), 38 + 40 + 40);
  EXPECT_EQ(Counted::alive, 0);
  EXPECT_EQ(thrown_by([&] { await(body(true)); }), "fermata::Error: on purpose");
  EXPECT_EQ(Counted::alive, 0);
  for (const Duration when : {500us, 1500us, 2500us}) {
    const auto carrier = spawn("carrier", body(false));
    delay(when);
    carrier.cancel();
    EXPECT_THROW(await(carrier), Cancellation);
    EXPECT_EQ(Counted::alive, 0);
  }
}

}  // namespace
}  // namespace fermata::test
