// SPDX-License-Identifier: Apache-2.0

// The lives of a simulated process, as a library sees them that was not written for Fermata: its
// variables, its memory, and how it ends.

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/posix/heap.hpp"
#include "fermata/sync/await.hpp"
#include "tests/posix/library/stubborn.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

class Lives : public test::WorldFixture {
 protected:
  std::string failure_of(std::function<void()> body) {
    world_->node("main", std::move(body));
    world_->run();
    return world_->failure() ? world_->failure()->message : std::string();
  }
};

#ifndef FERMATA_ASAN

TEST_F(Lives, EachMachineHasVariablesOfItsOwn) {
  const int outside = stubborn_count();
  for (int run_number = 0; run_number < 3; ++run_number) {
    begin(1);
    for (const char* name : {"one", "two"}) {
      world_->node(name, [] {
        for (int i = 1; i <= 5; ++i) {
          EXPECT_EQ(stubborn_count(), i);
          EXPECT_EQ(stubborn_count_of_thread(), i);
          delay(1ms);
        }
      });
    }
    run();
  }
  EXPECT_EQ(stubborn_count(), outside + 1);
}

TEST_F(Lives, AMachineThatComesUpAgainBeginsALife) {
  std::vector<int> counts;
  world_->service("main", [&] {
    counts.push_back(stubborn_count());
    delay(1h);
  });
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(counts, (std::vector<int>{1, 1}));
}

TEST_F(Lives, MemoryIsThatOfTheProcess) {
  std::set<const void*> places;
  for (int run_number = 0; run_number < 100; ++run_number) {
    begin(1);
    world_->node("main", [&] {
      void* const memory = stubborn_allocate(1'000'000);
      EXPECT_TRUE(posix::Heap::contains(memory));
      places.insert(memory);
      void* const freed = stubborn_allocate(10);
      ::free(freed);  // By whoever has it.
    });
    run();
  }
  EXPECT_EQ(places.size(), 1u);
  void* const outside = stubborn_allocate(10);
  EXPECT_FALSE(posix::Heap::contains(outside));
  stubborn_free(outside);
}

#endif

TEST_F(Lives, ALibraryThatEndsTheProcessFailsTheRun) {
  EXPECT_EQ(failure_of([] { stubborn_abort(); }), "foreign code ends the process: abort()");
  begin(1);
  EXPECT_EQ(failure_of([] { stubborn_exit(3); }), "foreign code ends the process: exit(3)");
  begin(1);
  const std::string text = failure_of([] { stubborn_assert(0); });
  EXPECT_NE(text.find("Assertion `condition == 1' failed"), std::string::npos) << text;
}

TEST_F(Lives, AbortInACoroutineThatIsToEndOnlyEndsIt) {
  bool unwound = false;
  const std::string failure = failure_of([&] {
    auto victim = spawn([&] {
      struct Note {
        bool& noted;
        ~Note() { noted = true; }
      } const note{unwound};
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe(ends.data()), 0);
      char byte = 0;
      static_cast<void>(!::read(ends[0], &byte, 1));
      stubborn_abort();
    });
    delay(1ms);
    victim.cancel();
    EXPECT_NE(test::error_of([&] { await(victim); }), "");
  });
  EXPECT_EQ(failure, "");
  EXPECT_TRUE(unwound);
}

TEST_F(Lives, ALoopThatIgnoresItsEndIsLeft) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    begin(seed);
    auto unwound = std::make_shared<int>(0);
    world_->service("main", [unwound] {
      const std::shared_ptr<int> counted(unwound.get(), [unwound](int* count) { ++*count; });
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe(ends.data()), 0);
      stubborn_read(ends[0]);
    });
    world_->node("other", [] { delay(1s); });
    run();
    EXPECT_EQ(*unwound, 1);
  }
}

TEST_F(Lives, ALoopThatWaitsForATimeSeesItCome) {
  EXPECT_EQ(failure_of([] {
              const Instant begun = now();
              stubborn_spin(1'000'000);
              EXPECT_GE(now() - begun, 900us);
            }),
            "");
}

}  // namespace
}  // namespace fermata::sim
