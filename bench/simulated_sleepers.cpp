// SPDX-License-Identifier: Apache-2.0

// N coroutines asleep in virtual time, over and over: an item is one wake-up with its trace hash.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/mini.hpp"

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

}  // namespace
