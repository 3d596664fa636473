// SPDX-License-Identifier: Apache-2.0

// Runs per second of a test of 25 events, 24 of one coroutine and one of another: each in a world
// as good as new, with all that SIM_TEST does by default.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/mini.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/explore.hpp"

namespace {

constexpr int kEventsOfOne = 24;

void small_test_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Coroutine* main = scheduler.current();
  scheduler.choose_at_random(1);
  for (auto _ : state) {
    int running = 2;
    const auto happen = [&](int events) {
      for (int i = 0; i < events; ++i) scheduler.yield();
      if (--running == 0) scheduler.wake(main);
    };
    scheduler.spawn([&] { happen(kEventsOfOne); });
    scheduler.spawn([&] { happen(1); });
    scheduler.park();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(small_test_floor)->Name("small_test/floor");

void small_test_fermata(benchmark::State& state) {
  std::int64_t runs = 0;
  fermata::sim::ExploreOptions options;
  options.runs = 5'000;
  for (auto _ : state) {
    options.seed += options.runs;
    const auto result = fermata::sim::explore(options, [](fermata::sim::World&) {
      const auto happen = [](int events) {
        for (int i = 0; i < events; ++i) fermata::suspend();
      };
      const auto many = fermata::spawn("many", [&] { happen(kEventsOfOne); });
      const auto one = fermata::spawn("one", [&] { happen(1); });
      fermata::await(many);
      fermata::await(one);
    });
    if (result.found) state.SkipWithError(result.found->failure.message.c_str());
    runs += static_cast<std::int64_t>(result.runs);
  }
  state.SetItemsProcessed(runs);
}
BENCHMARK(small_test_fermata)->Name("small_test/fermata");

}  // namespace
