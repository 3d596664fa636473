// SPDX-License-Identifier: Apache-2.0

// An uncontended lock and unlock, beside a yield between two coroutines: what a mutex may cost is
// said in those.

#include <benchmark/benchmark.h>

#include "bench/floor/mini.hpp"
#include "bench/on_libuv.hpp"

namespace {

void mutex_floor(benchmark::State& state) {
  bench::mini::Scheduler scheduler;
  bool done = false;
  scheduler.spawn([&] {
    while (!done) scheduler.yield();
  });
  for (auto _ : state) scheduler.yield();
  done = true;
  scheduler.yield();
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(mutex_floor)->Name("mutex/floor");

void mutex_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    fermata::Mutex mutex;
    for (auto _ : state) {
      mutex.lock();
      benchmark::ClobberMemory();
      mutex.unlock();
    }
  });
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(mutex_fermata)->Name("mutex/fermata");

}  // namespace
