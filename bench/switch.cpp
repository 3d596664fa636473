// SPDX-License-Identifier: Apache-2.0

// Yield among N coroutines: one iteration is one round, so an item is one yield.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/mini.hpp"
#include "bench/floor/raw.hpp"
#include "bench/on_libuv.hpp"

namespace {

void yield_raw(benchmark::State& state) {
  bench::StackPool stacks;
  bench::raw::Bouncer bouncer(stacks);
  for (auto _ : state) bouncer.there_and_back();
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(yield_raw)->Name("yield/raw/2");

void yield_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bool done = false;
  for (std::int64_t i = 1; i < state.range(0); ++i) {
    scheduler.spawn([&] {
      while (!done) scheduler.yield();
    });
  }
  scheduler.yield();
  for (auto _ : state) scheduler.yield();
  done = true;
  scheduler.yield();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(yield_floor)->Name("yield/floor")->Arg(2)->Arg(100)->Arg(1'000)->Arg(10'000);

void yield_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    bool done = false;
    for (std::int64_t i = 1; i < state.range(0); ++i) {
      fermata::spawn([&] {
        while (!done) fermata::suspend();
      });
    }
    fermata::suspend();
    for (auto _ : state) fermata::suspend();
    done = true;
    fermata::suspend();
  });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(yield_fermata)->Name("yield/fermata")->Arg(2)->Arg(100)->Arg(1'000)->Arg(10'000);

}  // namespace
