// SPDX-License-Identifier: Apache-2.0

// Signals that come while a reload is under way, on a disk that is slow and fails: what is in force
// is always a whole file, and after a quiet while the newest one that could be read.

#include <chrono>
#include <fermata/sim.hpp>
#include <set>
#include <string>

#include "examples/reload/reload.hpp"

namespace {

using namespace std::chrono_literals;

/// Through a file of its own: several may be at it at once.
void write_settings(const std::string& text) {
  const std::string name = "/new_" + text.substr(0, 5);
  fermata::File file = fermata::File::open(name, fermata::OpenMode::writing());
  file.write(text);
  file.close();
  fermata::fs::rename(name, "/settings");
}

SIM_TEST(Reload, HasAWholeFileInForce) {
  std::set<std::string> written{""};
  try {
    write_settings("first");
    written.insert("first");
  } catch (const fermata::InputOutputError&) {
    return;  // There is no disk to speak of.
  }
  fermata::loop::Loop loop;
  fermata::loop::EventInterface events(loop);
  Settings settings(events, "/settings",
                    [&](const std::string& text) { EXPECT_TRUE(written.count(text)); });
  for (int i = 0; i < 3; ++i) {
    loop.delay(std::chrono::milliseconds(fermata::random(20)), [&, i] {
      const std::string text(2'000, static_cast<char>('a' + i));
      written.insert(text);
      try {
        write_settings(text);
      } catch (const fermata::InputOutputError&) {
      }
      world.node("main").signal(SIGUSR1);
    });
  }
  loop.delay(10s, [&] { settings.forget(); });
  loop.run();
  EXPECT_TRUE(written.count(settings.text()));
}

}  // namespace
