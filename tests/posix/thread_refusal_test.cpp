// SPDX-License-Identifier: Apache-2.0

// What programs see when their simulated machine has no room for another thread.

#include <pthread.h>
#include <threads.h>

#include <algorithm>
#include <cerrno>
#include <regex>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "fermata/core/suspend.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/sim/run/runner.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 60;

class ThreadRefusals : public test::OneWorldFixture {
 protected:
  static FaultSet refusals() {
    FaultSet faults = FaultSet::none();
    faults.add(Fault::ThreadCreationFailure);
    return faults;
  }
  /// How many strikes there are in runs of a machine with `body`, which may refuse threads.
  std::uint64_t strikes(const std::function<void()>& body, bool may_refuse = true) {
    std::uint64_t struck = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      begin(refusals(), seed);
      Node& node = world_.node("main", body);
      if (may_refuse) node.may_refuse_threads();
      finish();
      struck += count(Fault::ThreadCreationFailure);
    }
    return struck;
  }
};

void* nothing(void*) { return nullptr; }

TEST_F(ThreadRefusals, AreEagainOfPthreadCreate) {
  std::uint64_t refused = 0;
  const std::uint64_t struck = strikes([&] {
    for (int i = 0; i < 4; ++i) {
      pthread_t thread = 0;
      const int code = ::pthread_create(&thread, nullptr, nothing, nullptr);
      if (code == 0) {
        EXPECT_EQ(::pthread_join(thread, nullptr), 0);
      } else {
        EXPECT_EQ(code, EAGAIN);
        ++refused;
      }
    }
  });
  EXPECT_GT(struck, 0u);
  EXPECT_EQ(refused, struck);
  EXPECT_LT(refused, 4 * kSeeds);
}

TEST_F(ThreadRefusals, AreErrorsOfTheThreadsOfC) {
  std::uint64_t refused = 0;
  const std::uint64_t struck = strikes([&] {
    thrd_t thread = 0;
    const int code = ::thrd_create(
        &thread, [](void*) { return 3; }, nullptr);
    if (code == thrd_success) {
      EXPECT_EQ(::thrd_join(thread, nullptr), thrd_success);
    } else {
      EXPECT_EQ(code, thrd_error);
      ++refused;
    }
  });
  EXPECT_GT(struck, 0u);
  EXPECT_EQ(refused, struck);
}

TEST_F(ThreadRefusals, AreExceptionsOfTheThreadsOfCxx) {
  std::uint64_t refused = 0;
  const std::uint64_t struck = strikes([&] {
    try {
      std::thread([] {}).join();
    } catch (const std::system_error& error) {
      EXPECT_EQ(error.code(), std::errc::resource_unavailable_try_again);
      ++refused;
    }
  });
  EXPECT_GT(struck, 0u);
  EXPECT_EQ(refused, struck);
}

TEST_F(ThreadRefusals, AreToldWithTheThreadAndThePlace) {
  Program program;
  program.body = [](World& world) {
    world
        .node("desk",
              [] {
                pthread_t thread = 0;
                const int code = ::pthread_create(&thread, nullptr, nothing, nullptr);
                if (code == 0) ::pthread_join(thread, nullptr);
              })
        .may_refuse_threads();
    world.run();
  };
  Runner runner(program, "random", {.faults = refusals()});
  runner.set_recording(true);
  std::set<std::string> sentences;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    runner.run(seed);
    const auto& names = runner.decisions().names().all();
    for (const Decision& decision : runner.decisions().log().recorded()) {
      if (!goes_without_saying(decision, names)) sentences.insert(describe(decision, names));
    }
  }
  const std::regex sentence(
      "'desk' has no room for 'thread 1', which 'main' asks for in [a-z_.:0-9]+");
  EXPECT_TRUE(std::any_of(sentences.begin(), sentences.end(), [&](const std::string& each) {
    return std::regex_match(each, sentence);
  })) << ::testing::PrintToString(sentences);
}

TEST_F(ThreadRefusals, StrikeOnlyMachinesThatAskForThem) {
  EXPECT_EQ(strikes([] { std::thread([] {}).join(); }, false), 0u);
}

TEST_F(ThreadRefusals, DoNotStrikeWorkOfTheRuntime) {
  EXPECT_EQ(strikes([] { EXPECT_EQ(offload([] { return 3; }), 3); }), 0u);
}

TEST_F(ThreadRefusals, EndWhenTheWorldHeals) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    begin(refusals(), seed);
    world_.node("main", [] { std::thread([] {}).join(); }).may_refuse_threads();
    world_.heal();
    finish();
  }
}

}  // namespace
}  // namespace fermata::sim
