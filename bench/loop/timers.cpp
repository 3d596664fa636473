// SPDX-License-Identifier: Apache-2.0

// N timers that fire each millisecond: an item is one call. Processor time, without the waiting.

#include <uv.h>

#include <chrono>
#include <vector>

#include "bench/loop/driver_rows.hpp"

namespace {

constexpr std::uint64_t kMilliseconds = 1;

void loop_timers_floor(benchmark::State& state) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  bench::CallCount count(state);
  std::vector<uv_timer_t> timers(static_cast<std::size_t>(state.range(0)));
  for (uv_timer_t& timer : timers) {
    uv_timer_init(&loop, &timer);
    timer.data = &count;
    const auto fired = [](uv_timer_t* each) {
      if (static_cast<bench::CallCount*>(each->data)->last()) uv_stop(each->loop);
    };
    uv_timer_start(&timer, fired, kMilliseconds, kMilliseconds);
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  for (uv_timer_t& timer : timers) uv_close(reinterpret_cast<uv_handle_t*>(&timer), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}
BENCHMARK(loop_timers_floor)->Name("loop_timers_uv/floor")->Arg(1'000);

void loop_timers_fermata(benchmark::State& state, fermata::loop::Loop& loop) {
  bench::CallCount count(state);
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    loop.repeat(std::chrono::milliseconds(kMilliseconds), [&] {
      if (count.last()) loop.stop();
    });
  }
  loop.run();
}
const bool timers_registered =
    bench::register_driver_rows("loop_timers", {1'000}, loop_timers_fermata);

}  // namespace
