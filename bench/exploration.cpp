// SPDX-License-Identifier: Apache-2.0

// Schedules per second of the classic lost update: two coroutines add to a balance they read before
// a yield. Every switch is a random pick. Fermata explores as SIM_TEST does by default: every
// decision on a tape, trace hash and audit on, one run in 64 repeated.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/mini.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/explore.hpp"

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

void lost_update_fermata(benchmark::State& state, bool adaptive_audit) {
  std::int64_t lost = 0;
  std::int64_t runs = 0;
  fermata::sim::ExploreOptions options;
  options.runs = 10'000;
  options.adaptive_audit = adaptive_audit;
  for (auto _ : state) {
    options.seed += options.runs;
    const auto result = fermata::sim::explore(options, [&lost](fermata::sim::World&) {
      int balance = 0;
      const auto deposit = [&] {
        const int seen = balance;
        fermata::suspend();
        balance = seen + 1;
      };
      const auto a = fermata::spawn("a", deposit);
      const auto b = fermata::spawn("b", deposit);
      fermata::await(a);
      fermata::await(b);
      lost += balance != 2;
    });
    if (result.found) state.SkipWithError(result.found->failure.message.c_str());
    runs += static_cast<std::int64_t>(result.runs);
  }
  state.SetItemsProcessed(runs);
  state.counters["lost"] = static_cast<double>(lost) / static_cast<double>(runs);
}
BENCHMARK_CAPTURE(lost_update_fermata, adaptive, true)->Name("lost_update/fermata");
BENCHMARK_CAPTURE(lost_update_fermata, touched, false)->Name("lost_update/touched");

}  // namespace
