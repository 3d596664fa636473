// SPDX-License-Identifier: Apache-2.0
#ifdef FERMATA_HAS_GLIB

#include "fermata/host/glib.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/future.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using host::GlibGuest;

class Glib : public ::testing::Test {
 protected:
  ~Glib() override {
    g_main_loop_unref(loop);
    g_main_context_unref(context);
  }

  GMainContext* context = g_main_context_new();
  GMainLoop* loop = g_main_loop_new(context, FALSE);
};

TEST_F(Glib, QuitsWhenTheGuestIsIdle) {
  host::GuestOptions options;
  options.on_idle = [this] { g_main_loop_quit(loop); };
  GlibGuest guest(context, std::move(options));
  bool done = false;
  guest.spawn("one", [&] {
    delay(2ms);
    done = true;
  });
  g_main_loop_run(loop);
  EXPECT_TRUE(done);
}

TEST_F(Glib, SourcesOfTheProgramGetTheirTurns) {
  GlibGuest guest(context);
  bool enough = false;
  guest.spawn("busy", [&] {
    while (!enough) suspend();
  });
  GSource* const timer = g_timeout_source_new(2);
  g_source_set_callback(
      timer,
      [](gpointer told) -> gboolean {
        *static_cast<bool*>(told) = true;
        return G_SOURCE_REMOVE;
      },
      &enough, nullptr);
  g_source_attach(timer, context);
  while (!guest.is_idle()) g_main_context_iteration(context, TRUE);
  EXPECT_TRUE(enough);
  g_source_unref(timer);
}

TEST_F(Glib, IteratesWhileAVisitorWaits) {
  GlibGuest guest(context);
  EXPECT_EQ(guest.enter([] {
    delay(2ms);
    return 42;
  }),
            42);
}

TEST_F(Glib, TellsAVisitorThatNothingWillWakeIt) {
  GlibGuest guest(context);
  EXPECT_THROW(guest.enter([] {
    const Promise<> never;
    await(never.future());
  }),
               DeadlockError);
}

TEST_F(Glib, MayBeEnteredWhenItTellsThatItIsIdle) {
  host::GuestOptions options;
  int entered = 0;
  GlibGuest* known = nullptr;
  options.on_idle = [&] {
    if (entered++ == 0) known->enter([] { delay(1ms); });
  };
  GlibGuest guest(context, std::move(options));
  known = &guest;
  guest.spawn("one", [] {});
  while (!guest.is_idle() || entered == 0) g_main_context_iteration(context, TRUE);
  EXPECT_EQ(entered, 2);
}

TEST_F(Glib, OutlivesTheProgramsReferenceToTheContext) {
  GMainContext* const own = g_main_context_new();
  GlibGuest guest(own);
  g_main_context_unref(own);
  EXPECT_EQ(guest.enter([] {
    delay(1ms);
    return 7;
  }),
            7);
}

}  // namespace
}  // namespace fermata

#endif
