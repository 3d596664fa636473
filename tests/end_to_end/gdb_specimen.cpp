// SPDX-License-Identifier: Apache-2.0

// A program that stops with coroutines waiting for all kinds of things, for gdb to look at. With an
// argument it goes on waiting instead of stopping.

#include <chrono>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <fermata/uv/reactor.hpp>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

[[gnu::noinline]] void wait_in_line(fermata::Mutex& mutex) {
  const fermata::Mutex::Guard guard(mutex);
  std::puts("never");
}

[[gnu::noinline]] int serve_client(fermata::Mutex& mutex, int client) {
  wait_in_line(mutex);
  std::printf("never %d\n", client);
  return client + 1;
}

[[gnu::noinline]] void hold_and_take(fermata::Mutex& mine, fermata::Mutex& other) {
  const fermata::Mutex::Guard first(mine);
  fermata::suspend();
  const fermata::Mutex::Guard second(other);
  std::puts("never");
}

[[gnu::noinline]] void read_orders(fermata::Channel<int>& orders) {
  std::printf("%d\n", orders.recv());
}

void sleep_long() { fermata::delay(24h); }

fermata::RuntimeOptions options_of(const char* name) {
  fermata::RuntimeOptions options;
  options.name = name;
  options.handle_stop_signals = false;
  options.stacks.guards = fermata::Guards::Mprotect;  // gcore gives up at guards of the other kind.
  return options;
}

}  // namespace

[[gnu::noinline]] void stop_here() {
  std::puts("everybody waits");
  std::fflush(stdout);
}

int main(int arguments, char**) {
  std::thread([] {
    fermata::Runtime runtime(fermata::uv::make_reactor(), options_of("second"));
    runtime.run([] { fermata::await(fermata::spawn("lonely", sleep_long)); });
  }).detach();

  fermata::Runtime runtime(fermata::uv::make_reactor(), options_of("main"));
  return runtime.run([arguments] {
    fermata::Mutex ledger("ledger");
    fermata::Mutex a("a");
    fermata::Mutex b("b");
    fermata::Channel<int> orders("orders", 4);
    const auto holder = fermata::spawn("holder", [&] {
      const fermata::Mutex::Guard guard(ledger);
      sleep_long();
    });
    const auto clerk = fermata::spawn("clerk", [&] { return serve_client(ledger, 7); });
    fermata::spawn("left", [&] { hold_and_take(a, b); });
    fermata::spawn("right", [&] { hold_and_take(b, a); });
    fermata::spawn("reader", [&] { read_orders(orders); });
    fermata::spawn("joiner", [&] { fermata::await(clerk); });
    const auto reporter = fermata::spawn("reporter", [arguments] {
      fermata::delay(100ms);
      fermata::spawn("late", [] {});
      stop_here();
      if (arguments > 1) sleep_long();
    });
    fermata::await(reporter);
    fermata::await(holder);
  });
}
