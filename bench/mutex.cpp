// SPDX-License-Identifier: Apache-2.0

// An uncontended lock and unlock, beside a yield between two coroutines: what a mutex may cost is
// said in those.

#include <benchmark/benchmark.h>

#include "bench/floor/yield_between_two.hpp"
#include "bench/on_libuv.hpp"

namespace {

using bench::yield_between_two;
BENCHMARK(yield_between_two)->Name("mutex/floor");

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
