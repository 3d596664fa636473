// SPDX-License-Identifier: Apache-2.0

// The timer queue with N timers armed. Fire: the earliest fires and is armed again at random.
// Cancel: one more is armed and cancelled; the floor there is libuv's own timer, since mini cannot
// cancel.

#include <benchmark/benchmark.h>
#include <uv.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "bench/floor/random.hpp"
#include "bench/floor/timer_heap.hpp"
#include "bench/on_libuv.hpp"

namespace {

std::int64_t some_nanoseconds(bench::Random& random) {
  return static_cast<std::int64_t>(random.below(1'000'000'000));
}

void timer_fire_floor(benchmark::State& state) {
  bench::Random random;
  bench::TimerHeap<int> heap;
  int target = 0;
  for (std::int64_t i = 0; i < state.range(0); ++i) heap.push(some_nanoseconds(random), &target);
  for (auto _ : state) {
    const auto fired = heap.pop();
    heap.push(fired.deadline + some_nanoseconds(random), fired.target);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(timer_fire_floor)->Name("timer_fire/floor")->Arg(1'000)->Arg(1'000'000);

void timer_cancel_floor(benchmark::State& state) {
  bench::Random random;
  uv_loop_t loop;
  uv_loop_init(&loop);
  const auto arm = [&random](uv_timer_t& timer) {
    const auto milliseconds = static_cast<std::uint64_t>(some_nanoseconds(random)) + 1'000'000;
    uv_timer_start(
        &timer, [](uv_timer_t*) {}, milliseconds, 0);
  };
  std::vector<uv_timer_t> timers(static_cast<std::size_t>(state.range(0)) + 1);
  for (uv_timer_t& timer : timers) {
    uv_timer_init(&loop, &timer);
    arm(timer);
  }
  for (auto _ : state) {
    arm(timers.front());
    uv_timer_stop(&timers.front());
  }
  state.SetItemsProcessed(state.iterations());
  for (uv_timer_t& timer : timers) uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}
BENCHMARK(timer_cancel_floor)->Name("timer_cancel/floor")->Arg(1'000)->Arg(1'000'000);

/// Calls `body` with the queue of a runtime and N + 1 timers, of which all but the first are armed.
template <class Body>
void with_armed_timers(benchmark::State& state, Body&& body) {
  bench::on_libuv([&] {
    fermata::Runtime& runtime = fermata::current_runtime();
    bench::Random random;
    fermata::detail::TimerQueue queue;
    std::deque<fermata::Timer> timers;
    for (std::int64_t i = 0; i <= state.range(0); ++i) {
      timers.emplace_back(runtime, fermata::Duration(1));
      if (i > 0) queue.push(timers.back(), fermata::Instant{some_nanoseconds(random)});
    }
    body(queue, timers.front(), random);
  });
  state.SetItemsProcessed(state.iterations());
}

void timer_fire_fermata(benchmark::State& state) {
  with_armed_timers(state, [&](auto& queue, fermata::Timer&, bench::Random& random) {
    for (auto _ : state) {
      const fermata::Instant now = queue.earliest();
      fermata::Timer* fired = queue.pop_due(now, queue.next_sequence());
      queue.push(*fired, now + fermata::Duration(some_nanoseconds(random)));
    }
  });
}
BENCHMARK(timer_fire_fermata)->Name("timer_fire/fermata")->Arg(1'000)->Arg(1'000'000);

void timer_cancel_fermata(benchmark::State& state) {
  with_armed_timers(state, [&](auto& queue, fermata::Timer& timer, bench::Random& random) {
    for (auto _ : state) {
      queue.push(timer, fermata::Instant{some_nanoseconds(random)});
      queue.remove(timer);
    }
  });
}
BENCHMARK(timer_cancel_fermata)->Name("timer_cancel/fermata")->Arg(1'000)->Arg(1'000'000);

}  // namespace
