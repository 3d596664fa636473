// SPDX-License-Identifier: Apache-2.0

// N coroutines asleep in virtual time, over and over: an item is one wake-up with its trace hash.
// Fermata's run with the default audit, in production's order and without faults: a late timer is
// more work, which the floor does not know.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <limits>

#include "bench/audited_run.hpp"
#include "bench/floor/mini.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "fermata/sim/run/runner.hpp"

namespace {

constexpr int kNapsEach = 1'000;
constexpr std::uint64_t kLongestNap = 1'000'000;

void simulated_sleepers_floor(benchmark::State& state) {
  for (auto _ : state) {
    bench::mini::Scheduler scheduler;
    bench::Random random;
    std::int64_t running = state.range(0);
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      scheduler.spawn([&] {
        for (int nap = 0; nap < kNapsEach; ++nap) {
          scheduler.sleep(static_cast<std::int64_t>(random.below(kLongestNap)));
        }
        --running;
      });
    }
    while (running > 0) scheduler.sleep(kLongestNap);
    benchmark::DoNotOptimize(scheduler.trace_hash());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kNapsEach);
}
BENCHMARK(simulated_sleepers_floor)->Name("simulated_sleepers/floor")->Arg(1'000);

void simulated_sleepers_fermata(benchmark::State& state, bench::RunOnce run_once) {
  bench::Random random;
  fermata::sim::Program program;
  program.body = [&](fermata::sim::World&) {
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      fermata::spawn([&random] {
        for (int nap = 0; nap < kNapsEach; ++nap) {
          fermata::delay(fermata::Duration(random.below(kLongestNap)));
        }
      });
    }
  };
  fermata::sim::WorldOptions options;
  options.faults = fermata::sim::FaultSet::none();
  options.step_limit = std::numeric_limits<std::uint64_t>::max();
  options.instant_limit = options.step_limit;
  fermata::sim::Runner runner(program, "fifo", options);
  std::uint64_t seed = 0;
  for (auto _ : state) {
    const auto result = run_once(runner, ++seed);
    if (result.failure) state.SkipWithError(result.failure->message.c_str());
    benchmark::DoNotOptimize(result.trace_hash);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * kNapsEach);
}
BENCHMARK_CAPTURE(simulated_sleepers_fermata, in_search, bench::run_in_search)
    ->Name("simulated_sleepers/fermata")
    ->Arg(1'000);
BENCHMARK_CAPTURE(simulated_sleepers_fermata, touched, bench::run_touched)
    ->Name("simulated_sleepers/touched")
    ->Arg(1'000);

}  // namespace
