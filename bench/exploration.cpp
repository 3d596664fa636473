// SPDX-License-Identifier: Apache-2.0

// Schedules per second of the classic lost update: two coroutines add to a balance they read before
// a yield. Every switch is a random pick.

#include <benchmark/benchmark.h>

#include "bench/floor/mini.hpp"

namespace {

void lost_update_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Coroutine* main = scheduler.current();
  scheduler.choose_at_random(1);
  std::int64_t lost = 0;
  for (auto _ : state) {
    int balance = 0;
    int running = 2;
    const auto deposit = [&] {
      const int seen = balance;
      scheduler.yield();
      balance = seen + 1;
      if (--running == 0) scheduler.wake(main);
    };
    scheduler.spawn(deposit);
    scheduler.spawn(deposit);
    scheduler.park();
    lost += balance != 2;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["lost"] = static_cast<double>(lost) / static_cast<double>(state.iterations());
}
BENCHMARK(lost_update_floor)->Name("lost_update/floor");

}  // namespace
