// SPDX-License-Identifier: Apache-2.0

// The timer queue with N timers armed. Fire: the earliest fires and is armed again at random.
// Cancel: one more is armed and cancelled; the floor there is libuv's own timer, since mini cannot
// cancel.

#include <benchmark/benchmark.h>
#include <uv.h>

#include <cstdint>
#include <vector>

#include "bench/floor/random.hpp"
#include "bench/floor/timer_heap.hpp"

namespace {

constexpr std::uint64_t kSpan = 1'000'000'000;

void timer_fire_floor(benchmark::State& state) {
  bench::Random random;
  bench::TimerHeap<int> heap;
  int target = 0;
  const auto later = [&](std::int64_t now) {
    return now + static_cast<std::int64_t>(random.below(kSpan));
  };
  for (std::int64_t i = 0; i < state.range(0); ++i) heap.push(later(0), &target);
  for (auto _ : state) {
    const auto fired = heap.pop();
    heap.push(later(fired.deadline), fired.target);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(timer_fire_floor)->Name("timer_fire/floor")->Arg(1'000)->Arg(1'000'000);

void timer_cancel_floor(benchmark::State& state) {
  bench::Random random;
  uv_loop_t loop;
  uv_loop_init(&loop);
  const auto ignore = [](uv_timer_t*) {};
  const auto some_ms = [&] { return 1'000'000 + random.below(kSpan); };
  std::vector<uv_timer_t> timers(static_cast<std::size_t>(state.range(0)) + 1);
  for (uv_timer_t& timer : timers) {
    uv_timer_init(&loop, &timer);
    uv_timer_start(&timer, ignore, some_ms(), 0);
  }
  for (auto _ : state) {
    uv_timer_start(&timers.front(), ignore, some_ms(), 0);
    uv_timer_stop(&timers.front());
  }
  state.SetItemsProcessed(state.iterations());
  for (uv_timer_t& timer : timers) uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}
BENCHMARK(timer_cancel_floor)->Name("timer_cancel/floor")->Arg(1'000)->Arg(1'000'000);

}  // namespace
