// SPDX-License-Identifier: Apache-2.0
//
// X42 of the additions: a loop at the very end of the process.

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fermata/loop/fiber_local.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopAtExit : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopAtExit, every_arm(), arm_name);

/// Uses what a loop has. Whether all was called.
bool runs_a_loop(const ArmKind& kind) {
  std::size_t calls = 0;
  const auto arm = kind.make();
  arm->run([&] {
    Loop& loop = arm->loop();
    loop::FiberLocal<std::uint64_t> local([] { return fermata::random(2); });
    for (const CallbackKind each : kEveryKind) {
      add(*arm, each, [&](CallbackId id) {
        if (local.get() < 2) ++calls;
        loop.cancel(id);
      });
    }
    provoke(*arm, CallbackKind::Signal);
    arm->drive();
  });
  return calls >= kEveryKind.size();
}

/// A static object that is older than whatever a loop makes for itself, and so dies after it.
class Oldest {
 public:
  Oldest() { ::testing::UnitTest::GetInstance(); }  // Which is older still.
  Oldest(const Oldest&) = delete;
  Oldest& operator=(const Oldest&) = delete;
  ~Oldest() {
    if (last_ == nullptr || runs_a_loop(*last_)) return;
    std::fputs("not everything was called\n", stderr);
    ::_exit(1);
  }

  void run_at_exit(const ArmKind& kind) { last_ = &kind; }

 private:
  const ArmKind* last_ = nullptr;
} oldest;

TEST_P(LoopAtExit, AnOlderStaticObjectMayRunALoopWhenItDies) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";  // A process that has run nothing else.
  const ArmKind& kind = GetParam();
  EXPECT_EXIT(
      {
        if (!runs_a_loop(kind)) ::_exit(2);
        oldest.run_at_exit(kind);
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fermata::conformance
