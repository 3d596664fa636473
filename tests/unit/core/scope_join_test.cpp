// SPDX-License-Identifier: Apache-2.0

// The destructor of a scope's handle: it waits until no member is left, wherever it can.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/cutter.hpp"
#include "tests/support/scope_fixture.hpp"

namespace fermata::test {
namespace {

class ScopeJoinTest : public ScopeTest {
 protected:
  /// A body that cleans up for `span` when it is cancelled, and notes the value of `local` last.
  [[nodiscard]] auto slow_to_end(const std::string& local, Duration span = 5ms) {
    return [this, &local, span] {
      try {
        delay(1h);
      } catch (const Cancellation&) {
        protect([&] { delay(span); });
        steps.push_back("member saw " + local);
        throw;
      }
    };
  }
};

MAIN_TEST_F(ScopeJoinTest, WaitsUntilNoMemberUsesTheLocals) {
  FERMATA_CHECKS("CORE-SP-03", "CORE-SP-04");
  const Instant begin = now();
  {
    const std::string local = "a local";
    const Scope scope("workers");
    scope.spawn(slow_to_end(local));
    scope.spawn(slow_to_end(local, 7ms));
    suspend();
    steps.push_back("leaving");
  }
  steps.push_back("left");
  EXPECT_EQ(steps, (Steps{"leaving", "member saw a local", "member saw a local", "left"}));
  EXPECT_EQ(now() - begin, 7ms);
}

MAIN_TEST_F(ScopeJoinTest, AnEmptyOneDoesNotSuspend) {
  const std::uint64_t ticks = runtime.metrics().ticks;
  {
    const Scope never_used("never used");
    const Scope used("used");
    await(used.spawn([] {}));
  }
  EXPECT_EQ(runtime.metrics().ticks - ticks, 2u) << "to the member and back";
}

MAIN_TEST_F(ScopeJoinTest, IsAChildOfTheCallersScopeThatCancelsItsMembers) {
  const Scope scope("workers");
  EXPECT_EQ(scope->parent(), &runtime.root_scope());
  EXPECT_EQ(scope->started_members(), StartedMembers::Cancel);
}

MAIN_TEST_F(ScopeJoinTest, WaitsWhileAnExceptionUnwinds) {
  const std::string error = thrown_by([this] {
    const std::string local = "a local";
    const Scope scope("workers");
    scope.spawn(slow_to_end(local));
    suspend();
    throw Error("failed");
  });
  EXPECT_EQ(error, "fermata::Error: failed");
  EXPECT_EQ(steps, (Steps{"member saw a local"}));
}

MAIN_TEST_F(ScopeJoinTest, IsNotCutShortByACancellationOfItsOwner) {
  const auto owner = spawn("owner", [this] {
    {
      const std::string local = "a local";
      const Scope scope("workers");
      scope.spawn(slow_to_end(local));
      suspend();
    }
    steps.push_back("left");
    suspend();
    steps.push_back("never");
  });
  delay(2ms);
  owner.cancel();
  EXPECT_THROW(await(owner), Cancellation);
  EXPECT_EQ(steps, (Steps{"member saw a local", "left"}));
}

MAIN_TEST_F(ScopeJoinTest, WaitsForMembersThatAreLetRun) {
  {
    Scope scope("workers");
    scope.set_started_members(StartedMembers::LetRun);
    scope.spawn(worker("started", 5ms));
    suspend();
    scope.spawn(worker("late"));
  }
  steps.push_back("left");
  EXPECT_EQ(steps, (Steps{"started begins", "started ends", "left"}));
}

MAIN_TEST_F(ScopeJoinTest, WaitsForFinallyHandlers) {
  {
    const Scope scope("workers");
    scope.finally([this](ScopeBase&) {
      delay(2ms);
      steps.push_back("finally");
    });
    scope.spawn(worker("member"));
    suspend();
  }
  steps.push_back("left");
  EXPECT_EQ(steps,
            (Steps{"member begins", "member: Scope is being disposed due to object destruction",
                   "finally", "left"}));
}

MAIN_TEST_F(ScopeJoinTest, LeavesErrorsOfMembersToTheScopesAround) {
  Scope around("around");
  around.set_exception_handler([this](ScopeBase&, CoroutineBase&, const std::exception_ptr& error) {
    steps.push_back(message_of(error));
  });
  await(around.spawn([this] {
    {
      const Scope scope("workers");
      scope.spawn([] {
        try {
          delay(1h);
        } catch (const Cancellation&) {
          throw Error("could not clean up");
        }
      });
      suspend();
    }
    steps.push_back("left");
  }));
  EXPECT_EQ(steps, (Steps{"could not clean up", "left"}));
}

MAIN_TEST_F(ScopeJoinTest, CannotWaitInsideOfItself) {
  auto scope = std::make_shared<std::optional<Scope>>(std::in_place, Name("workers"));
  const std::string info = (*scope)->operator->()->info();
  const auto member = (*scope)->spawn([this, scope] {
    scope->reset();
    steps.push_back("went on");
    suspend();
  });
  EXPECT_THROW(await(member), Cancellation);
  EXPECT_EQ(steps, (Steps{"went on"}));
  EXPECT_EQ(fixture.log, info + " is destroyed where nobody can wait for its members\n");
}

MAIN_TEST_F(ScopeJoinTest, CannotWaitWhereTheBodyOfACoroutineIsDestroyed) {
  const std::string local = "a local of the test";
  auto scope = std::make_unique<Scope>(Name("workers"));
  const std::string info = (*scope)->info();
  scope->spawn(slow_to_end(local));
  suspend();
  await(spawn([scope = std::move(scope)] {}));
  EXPECT_EQ(steps, (Steps{}));
  EXPECT_EQ(fixture.log, info + " is destroyed where nobody can wait for its members\n");
  delay(10ms);
  EXPECT_EQ(steps, (Steps{"member saw a local of the test"}));
}

MAIN_TEST_F(ScopeJoinTest, ADetachedOneDoesNotWait) {
  {
    const Scope scope = Scope::detached("workers");
    scope.spawn(worker("member"));
    suspend();
  }
  steps.push_back("left");
  delay(1ms);
  EXPECT_EQ(steps, (Steps{"member begins", "left",
                          "member: Scope is being disposed due to object destruction"}));
  EXPECT_EQ(fixture.log, "");
}

MAIN_TEST_F(ScopeJoinTest, AnAssignedHandleKeepsItsWay) {
  Scope kept("kept");
  {
    Scope other = Scope::detached("other");
    std::swap(kept, other);
    other.spawn(worker("member"));
    suspend();
  }
  steps.push_back("joined");
  kept.spawn(worker("left behind"));
  EXPECT_EQ(steps, (Steps{"member begins",
                          "member: Scope is being disposed due to object destruction", "joined"}));
}

/// A run that is cut while a scope's owner waits: the member is unwound before the locals die.
class CutScopeJoinTest : public ::testing::Test {
 protected:
  static RuntimeOptions watched_by(backend::Observer& observer) {
    RuntimeOptions options;
    options.observer = &observer;
    return options;
  }

  Cutter cutter;
  TestRuntime fixture{watched_by(cutter)};
  Steps steps;
};

TEST_F(CutScopeJoinTest, UnwindsMembersBeforeTheLocalsDie) {
  bool ready = false;
  cutter.when = [&] { return ready; };
  struct Note {
    Steps& steps;
    const char* text;
    ~Note() { steps.push_back(text); }
  };
  EXPECT_THROW(fixture.run([&] {
    const Note local{steps, "the local dies"};
    const Scope scope("workers");
    scope.spawn([&] {
      const Note member{steps, "the member is unwound"};
      ready = true;
      delay(1h);
    });
    delay(1h);
  }),
               backend::AbandonRun);
  EXPECT_EQ(steps, (Steps{"the member is unwound", "the local dies"}));
}

/// Runs that are cut while the member of a scope waits in a destructor for the scope's owner, which
/// is the first to be told that this cannot end.
class EndlessScopeJoinTest : public CutScopeJoinTest {
 protected:
  /// Runs `owner` and cuts the run as soon as `cut` is set. `owner` gets a body for its member.
  void run_and_cut(const std::function<void(const std::function<void()>& member)>& owner) {
    cutter.when = [this] { return cut; };
    const std::function<void()> member = [this] {
      struct WaitsForMain {
        Coroutine<>& owner;
        ~WaitsForMain() {
          try {
            protect_in_destructor([&] { await(owner); });
          } catch (...) {  // Ends with its coroutine.
          }
        }
      };
      const WaitsForMain last{of_owner};
      delay(1h);
    };
    EXPECT_THROW(fixture.run([&] {
      of_owner = spawn("owner", [&] { owner(member); });
      await(of_owner);
    }),
                 backend::AbandonRun);
  }
  void expect_log_of_the_wait_only() const {
    EXPECT_NE(fixture.log.find("waits in a destructor for something that can no longer happen"),
              std::string::npos)
        << fixture.log;
    EXPECT_EQ(fixture.log.find("has swallowed"), std::string::npos) << fixture.log;
  }

  bool cut = false;
  Coroutine<> of_owner;
};

TEST_F(EndlessScopeJoinTest, PutsOffTheUnwindingOnANormalExit) {
  run_and_cut([this](const auto& member) {
    {
      const Scope scope("workers");
      scope.spawn(member);
      suspend();
      cut = true;
    }
    steps.push_back("left");
  });
  EXPECT_EQ(steps, (Steps{"left"}));
  expect_log_of_the_wait_only();
}

TEST_F(EndlessScopeJoinTest, PutsOffTheUnwindingWhileAnExceptionUnwinds) {
  run_and_cut([this](const auto& member) {
    const std::string error = thrown_by([&] {
      const Scope scope("workers");
      scope.spawn(member);
      suspend();
      cut = true;
      throw Error("failed");
    });
    steps.push_back(error);
  });
  EXPECT_EQ(steps, (Steps{"fermata::Error: failed"}));
  expect_log_of_the_wait_only();
}

TEST_F(EndlessScopeJoinTest, GoesOnWithAnUnwindingThatHasBegunBefore) {
  run_and_cut([this](const auto& member) {
    try {
      const Scope scope("workers");
      scope.spawn(member);
      suspend();
      cut = true;
      delay(1h);
    } catch (const ForcedUnwind&) {
      suspend();  // Returns: it is told once.
      steps.push_back("unwound");
      throw;
    }
  });
  EXPECT_EQ(steps, (Steps{"unwound"}));
  expect_log_of_the_wait_only();
}

TEST_F(EndlessScopeJoinTest, UnwindsTheOwnerWhereItWaitsNext) {
  run_and_cut([this](const auto& member) {
    {
      const Scope scope("workers");
      scope.spawn(member);
      suspend();
      cut = true;
    }
    steps.push_back("left");
    delay(1h);
    steps.push_back("never");
  });
  EXPECT_EQ(steps, (Steps{"left"}));
  expect_log_of_the_wait_only();
}

}  // namespace
}  // namespace fermata::test
