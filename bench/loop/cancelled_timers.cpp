// SPDX-License-Identifier: Apache-2.0

// N timers are armed and then cancelled, in the order in which they were armed. The floor has the
// timer queue alone, and timers that are there already, as libuv's row has; libuv counts
// milliseconds. Clock is the floor with a look at the clock for each timer: a deadline in
// nanoseconds counts from now, libuv's from the time of its turn. Once before it counts, so that
// the memory is there: what the system takes for a fresh page is more than all the rest.

#include <uv.h>

#include <chrono>
#include <deque>

#include "bench/floor/random.hpp"
#include "bench/loop/driver_rows.hpp"
#include "bench/on_libuv.hpp"

namespace {

constexpr std::int64_t kTimers = 100'000;

/// Far enough away that none is due while this measures.
fermata::Duration some_time(bench::Random& random) {
  return std::chrono::hours(1) + fermata::Duration(random.below(1'000'000'000));
}

/// `now(runtime)`: what deadlines count from.
template <class Now>
void cancel_in_queue(benchmark::State& state, Now now) {
  bench::on_libuv([&] {
    fermata::Runtime& runtime = fermata::current_runtime();
    bench::Random random;
    fermata::detail::TimerQueue queue;
    std::deque<fermata::Timer> timers;
    for (std::int64_t i = 0; i < kTimers; ++i) {
      timers.emplace_back(runtime, fermata::Duration(1));
    }
    const auto arm_and_cancel_all = [&] {
      for (fermata::Timer& timer : timers) queue.push(timer, now(runtime) + some_time(random));
      for (fermata::Timer& timer : timers) queue.remove(timer);
    };
    arm_and_cancel_all();
    for (auto _ : state) arm_and_cancel_all();
  });
  state.SetItemsProcessed(state.iterations() * kTimers);
}

void cancelled_timers_floor(benchmark::State& state) {
  cancel_in_queue(state, [](fermata::Runtime&) { return fermata::Instant{}; });
}
BENCHMARK(cancelled_timers_floor)->Name("cancelled_timers/floor");

void cancelled_timers_clock(benchmark::State& state) {
  cancel_in_queue(state, [](fermata::Runtime& runtime) { return runtime.now(); });
}
BENCHMARK(cancelled_timers_clock)->Name("cancelled_timers/clock");

void cancelled_timers_libuv(benchmark::State& state) {
  bench::Random random;
  uv_loop_t loop;
  uv_loop_init(&loop);
  std::vector<uv_timer_t> timers(kTimers);
  for (uv_timer_t& timer : timers) uv_timer_init(&loop, &timer);
  const auto arm_and_cancel_all = [&] {
    for (uv_timer_t& timer : timers) {
      const auto span = std::chrono::duration_cast<std::chrono::milliseconds>(some_time(random));
      uv_timer_start(
          &timer, [](uv_timer_t*) {}, static_cast<std::uint64_t>(span.count()), 0);
    }
    for (uv_timer_t& timer : timers) uv_timer_stop(&timer);
  };
  arm_and_cancel_all();
  for (auto _ : state) arm_and_cancel_all();
  for (uv_timer_t& timer : timers) uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  state.SetItemsProcessed(state.iterations() * kTimers);
}
BENCHMARK(cancelled_timers_libuv)->Name("cancelled_timers/libuv");

void cancelled_timers_fermata(benchmark::State& state) {
  bench::on_libuv([&] {
    bench::Random random;
    fermata::loop::Loop loop;
    std::vector<fermata::loop::CallbackId> ids(kTimers);
    const auto arm_all = [&] {
      for (fermata::loop::CallbackId& id : ids) id = loop.delay(some_time(random), [] {});
      // In the next tick, when the timers are armed.
      loop.defer([&] {
        for (const fermata::loop::CallbackId id : ids) loop.cancel_timer(id);
      });
    };
    const auto arm_and_cancel_all = [&] {
      loop.defer(arm_all);
      loop.run();
    };
    arm_and_cancel_all();
    for (auto _ : state) arm_and_cancel_all();
  });
  state.SetItemsProcessed(state.iterations() * kTimers);
}
BENCHMARK(cancelled_timers_fermata)->Name("cancelled_timers/fermata");

}  // namespace
