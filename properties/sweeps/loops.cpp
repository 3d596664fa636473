// SPDX-License-Identifier: Apache-2.0

// The event loop of callbacks: it runs again, whoever of its coroutines was interrupted.

#include <gtest/gtest.h>

#include "fermata/loop/loop.hpp"
#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {

using namespace std::chrono_literals;

void event_loop(sim::World& world) {
  loop::Loop loop;
  int repeats = 0;
  int notices = 0;
  loop.repeat(1ms, [&](loop::CallbackId) {
    ++repeats;
    delay(1ms);  // Meanwhile it is masked, and others are called.
  });
  const loop::CallbackId notice = loop.on_notice([&](loop::CallbackId) {
    ++notices;
    suspend();
  });
  loop::CallbackId end{};
  const auto run = [&] {
    loop.cancel(end);
    repeats = notices = 0;
    end = loop.delay(5ms, [&](loop::CallbackId) { loop.stop(); });
    loop.notice(notice);
    loop.run();
  };
  world.sweep_cancellation(
      [&] {
        try {
          run();
        } catch (const loop::UncaughtError&) {  // Who calls the callbacks was interrupted.
        }
      },
      {.then = [&] {
        run();
        EXPECT_GT(repeats, 0) << "MASK (WAKE): a repeat that was interrupted is never called again";
        EXPECT_GT(notices, 0) << "MASK (WAKE): a notice is never told again";
      }});
}

}  // namespace fermata::properties::sweeps
