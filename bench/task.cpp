// SPDX-License-Identifier: Apache-2.0

// co_await in a Task. The floor of a wait is the plain wait, in the same coroutine: of a future
// that is ready, of an event that somebody else fires. The floor of a Task that awaits another one
// is the least that may be called a lazy task, which does nothing but this.

#include <benchmark/benchmark.h>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "bench/on_libuv.hpp"
#include "bench/signal.hpp"

namespace {

// --- a future that is ready ---

/// Times `loop`, which awaits a ready future as long as the state runs.
template <class Loop>
void await_ready_future(benchmark::State& state, Loop loop) {
  bench::on_libuv([&] {
    fermata::Promise<int> promise;
    promise.complete(1);
    loop(state, promise.future());
  });
  state.SetItemsProcessed(state.iterations());
}

void plain_await_ready(benchmark::State& state) {
  await_ready_future(state, [](benchmark::State& running, const fermata::Future<int>& future) {
    for (auto _ : running) benchmark::DoNotOptimize(fermata::await(future));
  });
}
BENCHMARK(plain_await_ready)->Name("co_await_ready/floor");

fermata::Task<> loop_of_ready(benchmark::State& running, const fermata::Future<int>& future) {
  for (auto _ : running) benchmark::DoNotOptimize(co_await future);
}

void co_await_ready(benchmark::State& state) {
  await_ready_future(state, [](benchmark::State& running, const fermata::Future<int>& future) {
    fermata::await(loop_of_ready(running, future));
  });
}
BENCHMARK(co_await_ready)->Name("co_await_ready/fermata");

// --- a wake ---

/// Two coroutines that wake each other in turn.
struct Pair {
  bench::Signal ping;
  bench::Signal pong;
  bool done = false;
};

void answer_plainly(Pair& pair) {
  while (!pair.done) {
    pair.pong.notify({});
    fermata::wait(pair.ping);
  }
}

void plain_wake(benchmark::State& state) {
  bench::on_libuv([&] {
    Pair pair;
    const auto peer = fermata::spawn([&] { answer_plainly(pair); });
    fermata::wait(pair.pong);
    for (auto _ : state) {
      pair.ping.notify({});
      fermata::wait(pair.pong);
    }
    pair.done = true;
    pair.ping.notify({});
    fermata::await(peer);
  });
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(plain_wake)->Name("co_await_wake/floor");

fermata::Task<> answer_in_task(Pair& pair) {
  while (!pair.done) {
    pair.pong.notify({});
    co_await pair.ping;
  }
}

fermata::Task<> ask_in_task(benchmark::State& state, Pair& pair) {
  const auto peer = fermata::spawn(answer_in_task(pair));
  co_await pair.pong;
  for (auto _ : state) {
    pair.ping.notify({});
    co_await pair.pong;
  }
  pair.done = true;
  pair.ping.notify({});
  co_await peer;
}

void co_await_wake(benchmark::State& state) {
  bench::on_libuv([&] {
    Pair pair;
    fermata::await(ask_in_task(state, pair));
  });
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(co_await_wake)->Name("co_await_wake/fermata");

// --- a Task that awaits another ---

/// A lazy coroutine that resumes whoever awaits it; it has no errors, results or carriers.
class Least {
 public:
  struct promise_type {
    std::coroutine_handle<> awaiting;

    Least get_return_object() noexcept {
      return Least(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    static std::suspend_always initial_suspend() noexcept { return {}; }
    struct End {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(
          std::coroutine_handle<promise_type> ended) noexcept {
        return ended.promise().awaiting;
      }
      static void await_resume() noexcept {}
    };
    static End final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };

  explicit Least(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}
  Least(Least&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  ~Least() {
    if (frame_) frame_.destroy();
  }

  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const noexcept {
    frame_.promise().awaiting = awaiting;
    return frame_;
  }
  static void await_resume() noexcept {}

  void run() const {
    frame_.promise().awaiting = std::noop_coroutine();
    frame_.resume();
  }

 private:
  std::coroutine_handle<promise_type> frame_;
};

[[gnu::noinline]] Least least_step(std::uint64_t& count) {
  ++count;
  co_return;
}

Least loop_of_least(benchmark::State& state, std::uint64_t& count) {
  for (auto _ : state) co_await least_step(count);
}

void least_call(benchmark::State& state) {
  std::uint64_t count = 0;
  loop_of_least(state, count).run();
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
}
BENCHMARK(least_call)->Name("task_call/floor");

[[gnu::noinline]] fermata::Task<> task_step(std::uint64_t& count) {
  ++count;
  co_return;
}

fermata::Task<> loop_of_tasks(benchmark::State& state, std::uint64_t& count) {
  for (auto _ : state) co_await task_step(count);
}

void task_call(benchmark::State& state) {
  std::uint64_t count = 0;
  bench::on_libuv([&] { fermata::await(loop_of_tasks(state, count)); });
  state.SetItemsProcessed(static_cast<std::int64_t>(count));
}
BENCHMARK(task_call)->Name("task_call/fermata");

}  // namespace
