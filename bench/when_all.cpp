// SPDX-License-Identifier: Apache-2.0

// One coroutine spawns n others and waits for all of them: an item is one of those. The floor
// counts down and wakes its waiter at zero.

#include <benchmark/benchmark.h>

#include <vector>

#include "bench/floor/mini.hpp"
#include "bench/on_libuv.hpp"
#include "fermata/sync/when_all.hpp"

namespace {

void when_all_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bench::mini::Coroutine* main = scheduler.current();
  for (auto _ : state) {
    std::int64_t left = state.range(0);
    std::vector<std::int64_t> values(static_cast<std::size_t>(left));
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      scheduler.spawn([&, i] {
        values[static_cast<std::size_t>(i)] = i;
        if (--left == 0) scheduler.wake(main);
      });
    }
    scheduler.park();
    benchmark::DoNotOptimize(values);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(when_all_floor)->Name("when_all/floor")->Arg(100)->Arg(1000)->Arg(10000);

void when_all_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    for (auto _ : state) {
      std::vector<fermata::Coroutine<std::int64_t>> items;
      for (std::int64_t i = 0; i < state.range(0); ++i) {
        items.push_back(fermata::spawn([i] { return i; }));
      }
      benchmark::DoNotOptimize(fermata::when_all(items));
    }
  });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(when_all_fermata)->Name("when_all/fermata")->Arg(100)->Arg(1000)->Arg(10000);

}  // namespace
