// SPDX-License-Identifier: Apache-2.0

// A program in a main loop of GLib, as those of GTK are, without GTK: a timeout of GLib's stands
// for a button, which hands work to coroutines of a guest.

#include <glib.h>

#include <cstdio>

#include "fermata/runtime.hpp"
#include "fermata/host/glib.hpp"

using namespace std::chrono_literals;

namespace {

struct Program {
  GMainLoop* loop = g_main_loop_new(nullptr, FALSE);
  fermata::host::GlibGuest guest{nullptr, {.on_idle = [this] { on_idle(); }}};
  int presses = 0;

  ~Program() { g_main_loop_unref(loop); }

  /// What a coroutine may do takes its time, and nothing stands still meanwhile.
  void press() {
    const int number = ++presses;
    std::printf("press %d\n", number);
    guest.spawn("fetch", [number] {
      fermata::delay(100ms);
      std::printf("answer %d\n", number);
    });
  }

  void on_idle() {
    if (presses == 3) g_main_loop_quit(loop);
  }
};

gboolean press(gpointer program) {
  auto& self = *static_cast<Program*>(program);
  self.press();
  return self.presses < 3 ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

}  // namespace

int main() {
  Program program;
  press(&program);
  g_timeout_add(5, press, &program);
  g_main_loop_run(program.loop);
  std::printf("idle\n");
}
