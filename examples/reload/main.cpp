// SPDX-License-Identifier: Apache-2.0

// Usage: example_reload FILE. Shows the file now and at each SIGUSR1, for a minute or three times.

#include <chrono>
#include <cstdio>
#include <fermata/runtime/uv/reactor.hpp>

#include "examples/reload/reload.hpp"

constexpr int kReloads = 3;

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_reload FILE\n");
    return 2;
  }
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    fermata::loop::Loop loop;
    fermata::loop::EventInterface events(loop);
    int shown = 0;
    const Settings settings(events, argv[1], [&](const std::string& text) {
      std::printf("%s", text.c_str());
      if (++shown > kReloads) events.stop();
    });
    events.delay(60s, [&] { events.stop(); });
    events.run();
  });
}
