// SPDX-License-Identifier: Apache-2.0

// C++20 coroutines of Boost.Asio, and its timers. Of 1.74: it has no channel.

#include <benchmark/benchmark.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <deque>

#include "bench/floor/random.hpp"
#include "bench/peers/asio.hpp"

namespace {

using peers::Awaitable;
using peers::use_awaitable;
namespace asio = peers::asio;

using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, peers::Executor>;

constexpr int kBatch = 1'000;
constexpr std::int64_t kTimers = 100'000;

/// Runs a coroutine, and whatever it starts, to the end.
template <class Body>
void run(Body&& body) {
  asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
  asio::co_spawn(context.get_executor(), body(context.get_executor()), asio::detached);
  context.run();
}

Awaitable<> yield_until(const bool& done, peers::Executor executor) {
  while (!done) co_await asio::post(executor, use_awaitable);
}

void yield(benchmark::State& state) {
  bool done = false;
  run([&](peers::Executor executor) -> Awaitable<> {
    for (std::int64_t i = 1; i < state.range(0); ++i) {
      asio::co_spawn(executor, yield_until(done, executor), asio::detached);
    }
    co_await asio::post(executor, use_awaitable);
    for (auto _ : state) co_await asio::post(executor, use_awaitable);
    done = true;
  });
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(yield)->Name("yield/asio")->Arg(2)->Arg(1'000)->Arg(10'000);

Awaitable<> count(std::int64_t& ended) {
  ++ended;
  co_return;
}

void spawn_finish(benchmark::State& state) {
  std::int64_t ended = 0;
  run([&](peers::Executor executor) -> Awaitable<> {
    for (auto _ : state) {
      for (int i = 0; i < kBatch; ++i) asio::co_spawn(executor, count(ended), asio::detached);
      co_await asio::post(executor, use_awaitable);
    }
  });
  if (ended != state.iterations() * kBatch) state.SkipWithError("some have not ended");
  state.SetItemsProcessed(ended);
}
BENCHMARK(spawn_finish)->Name("spawn_finish/asio/1000");

void spawn_await(benchmark::State& state) {
  std::int64_t ended = 0;
  run([&](peers::Executor executor) -> Awaitable<> {
    for (auto _ : state) co_await asio::co_spawn(executor, count(ended), use_awaitable);
  });
  state.SetItemsProcessed(ended);
}
BENCHMARK(spawn_await)->Name("spawn_await/asio");

void cancelled_timers(benchmark::State& state) {
  bench::Random random;
  asio::io_context context(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
  std::deque<Timer> timers;
  for (std::int64_t i = 0; i < kTimers; ++i) timers.emplace_back(context);
  const auto arm_and_cancel = [&] {
    for (auto& timer : timers) {
      timer.expires_after(std::chrono::hours(1) +
                          std::chrono::nanoseconds(random.below(1'000'000'000)));
      timer.async_wait([](const boost::system::error_code&) {});
    }
    for (auto& timer : timers) timer.cancel();
    context.run();
    context.restart();
  };
  arm_and_cancel();  // Its memory is there now.
  for (auto _ : state) arm_and_cancel();
  state.SetItemsProcessed(state.iterations() * kTimers);
}
BENCHMARK(cancelled_timers)->Name("cancelled_timers/asio");

}  // namespace
