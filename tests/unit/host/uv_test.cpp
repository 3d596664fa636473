// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <uv.h>

#include <memory>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/uv/guest.hpp"
#include "tests/support/error_of.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

class UvGuest : public ::testing::Test {
 protected:
  void SetUp() override {
    uv_loop_init(&loop);
    guest = std::make_unique<uv::Guest>(loop);
  }
  void TearDown() override {
    guest.reset();
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop), 0);
  }

  uv_loop_t loop;
  std::unique_ptr<uv::Guest> guest;
};

TEST_F(UvGuest, KeepsTheLoopForAsLongAsItHasSomethingToDo) {
  EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  int done = 0;
  guest->spawn("one", [&] {
    delay(2ms);
    ++done;
  });
  EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(done, 1);
  EXPECT_TRUE(guest->is_idle());
  guest->enter([&] { spawn("two", [&] { ++done; }); });
  EXPECT_EQ(uv_run(&loop, UV_RUN_DEFAULT), 0);
  EXPECT_EQ(done, 2);
}

TEST_F(UvGuest, SharesTheLoopWithHandlesOfTheProgram) {
  uv_timer_t ticks;
  uv_timer_init(&loop, &ticks);
  int count = 0;
  ticks.data = &count;
  uv_timer_start(
      &ticks, [](uv_timer_t* timer) { ++*static_cast<int*>(timer->data); }, 0, 1);
  bool enough = false;
  guest->spawn("busy", [&] {
    while (!enough) suspend();
  });
  while (count < 3) uv_run(&loop, UV_RUN_ONCE);
  enough = true;
  uv_close(reinterpret_cast<uv_handle_t*>(&ticks), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  EXPECT_TRUE(guest->is_idle());
}

TEST_F(UvGuest, KeepsTheLoopFromBeingClosedUnderIt) {
  guest->spawn("sleeper", [] { delay(1h); });
  uv_run(&loop, UV_RUN_NOWAIT);
  EXPECT_EQ(uv_loop_close(&loop), UV_EBUSY);
  guest.reset();
  EXPECT_EQ(uv_loop_close(&loop), UV_EBUSY);
}

TEST_F(UvGuest, RefusesVisitorsThatWait) {
  EXPECT_NE(test::error_of([&] { guest->enter([] { delay(1ms); }); }), "no error");
}

}  // namespace
}  // namespace fermata
