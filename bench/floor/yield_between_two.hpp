// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the cost of a primitive is said in: a yield between two coroutines of the floor.

#include <benchmark/benchmark.h>

#include "bench/floor/mini.hpp"

namespace bench {

/// An item is one yield.
inline void yield_between_two(benchmark::State& state) {
  mini::Scheduler scheduler;
  bool done = false;
  scheduler.spawn([&] {
    while (!done) scheduler.yield();
  });
  scheduler.yield();
  for (auto _ : state) scheduler.yield();
  done = true;
  scheduler.yield();
  state.SetItemsProcessed(state.iterations() * 2);
}

}  // namespace bench
