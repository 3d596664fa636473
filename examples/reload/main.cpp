// SPDX-License-Identifier: Apache-2.0

// Usage: example_reload [--loop NAME] FILE. Shows the file now and at each SIGUSR1, for a minute or
// three times; fails on drivers that have no files.

#include <chrono>
#include <cstdio>

#include "examples/driver_flag.hpp"
#include "examples/reload/reload.hpp"

constexpr int kReloads = 3;

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  const example::Usage usage{
      .program = "example_reload", .operands = " FILE", .least = 1, .most = 1};
  return example::run_on_driver(usage, argc, argv, [](example::Operands operands) {
    fermata::loop::Loop loop;
    fermata::loop::EventInterface events(loop);
    int shown = 0;
    const Settings settings(events, operands[0], [&](const std::string& text) {
      std::printf("%s", text.c_str());
      if (++shown > kReloads) events.stop();
    });
    events.delay(60s, [&] { events.stop(); });
    events.run();
  });
}
