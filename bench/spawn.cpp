// SPDX-License-Identifier: Apache-2.0

// Spawning coroutines that end at once: in batches that run when the spawner yields, and one by
// one.

#include <benchmark/benchmark.h>

#include <cstdint>

#include "bench/floor/mini.hpp"
#include "bench/floor/raw.hpp"
#include "bench/on_libuv.hpp"

namespace {

constexpr int kBatch = 1'000;

void spawn_raw(benchmark::State& state) {
  bench::StackPool stacks;
  for (auto _ : state) bench::raw::enter_once(stacks);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(spawn_raw)->Name("spawn_finish/raw/1000");

void spawn_finish_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  std::uint64_t ended = 0;
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) scheduler.spawn([&ended] { ++ended; });
    scheduler.yield();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(ended));
}
BENCHMARK(spawn_finish_floor)->Name("spawn_finish/floor/1000");

void spawn_await_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  std::uint64_t ended = 0;
  for (auto _ : state) scheduler.await(scheduler.spawn([&ended] { ++ended; }));
  state.SetItemsProcessed(static_cast<std::int64_t>(ended));
}
BENCHMARK(spawn_await_floor)->Name("spawn_await/floor");

void spawn_finish_fermata(benchmark::State& state) {
  std::uint64_t ended = 0;
  bench::on_libuv([&] {
    for (auto _ : state) {
      for (int i = 0; i < kBatch; ++i) fermata::spawn([&ended] { ++ended; });
      fermata::suspend();
    }
  });
  state.SetItemsProcessed(static_cast<std::int64_t>(ended));
}
BENCHMARK(spawn_finish_fermata)->Name("spawn_finish/fermata/1000");

void spawn_await_fermata(benchmark::State& state) {
  std::uint64_t ended = 0;
  bench::on_libuv([&] {
    for (auto _ : state) fermata::await(fermata::spawn([&ended] { ++ended; }));
  });
  state.SetItemsProcessed(static_cast<std::int64_t>(ended));
}
BENCHMARK(spawn_await_fermata)->Name("spawn_await/fermata");

}  // namespace
