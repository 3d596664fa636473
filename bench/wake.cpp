// SPDX-License-Identifier: Apache-2.0

// Two coroutines wake each other in turn: an item is one wake and the switch that serves it.

#include <benchmark/benchmark.h>

#include "bench/floor/mini.hpp"
#include "bench/on_libuv.hpp"
#include "bench/signal.hpp"

namespace {

void wake_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Coroutine* main = scheduler.current();
  bool done = false;
  bench::mini::Coroutine* peer = scheduler.spawn([&] {
    while (!done) {
      scheduler.wake(main);
      scheduler.park();
    }
    scheduler.wake(main);
  });
  scheduler.park();
  for (auto _ : state) {
    scheduler.wake(peer);
    scheduler.park();
  }
  done = true;
  scheduler.wake(peer);
  scheduler.park();
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(wake_floor)->Name("wake/floor");

void wake_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    bench::Signal ping;
    bench::Signal pong;
    bool done = false;
    const auto peer = fermata::spawn([&] {
      while (!done) {
        pong.notify({});
        fermata::wait(ping);
      }
    });
    fermata::wait(pong);
    for (auto _ : state) {
      ping.notify({});
      fermata::wait(pong);
    }
    done = true;
    ping.notify({});
    fermata::await(peer);
  });
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(wake_fermata)->Name("wake/fermata");

}  // namespace
