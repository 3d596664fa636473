// SPDX-License-Identifier: Apache-2.0
#pragma once

// A C++20 coroutine, without a stack of its own, that runs inside a coroutine of the scheduler.
//
//   fermata::Task<int> length_of(fermata::Future<std::string> text) {
//     co_await fermata::after(1s);
//     co_return (co_await text).size();
//   }
//   int length = co_await length_of(text);                     // in another Task
//   int length = fermata::await(length_of(text));              // in a coroutine
//   auto measure = fermata::spawn("measure", length_of(text)); // a coroutine of its own
//
// Laziness     Nothing runs before the Task is awaited or spawned. It runs once.
// Carrier      The coroutine that runs a Task. It waits for whatever the Task waits for, so one
//              carrier waits for one thing. Concurrency comes from spawn.
// co_await     Of a coroutine, a future or another awaitable: as await(). Of an event: as wait().
//              Of another Task: runs it, in the same carrier. Of an operation (task_operation.hpp):
//              calls it. Options, such as a timeout, go into an operation or a plain call.
// Plain calls  The carrier has a stack, so every call that waits can also be made without co_await,
//              also in a catch block, where the language does not allow co_await.
// Errors       They come out of co_await and of await(), Cancellation too. Catch and finish as in
//              any coroutine.
// Lifetime     A Task owns its frame. It goes when the Task has ended, was cancelled, or is
//              destroyed before it ran. Arguments by reference must live until then, and so must a
//              lambda that is called: spawn("name", [x]() -> Task<> {...}) keeps it.
// Compilers    g++ 12 destroys twice what a lambda or a braced aggregate owns that is written
//              inside of a co_await expression. Give it a name in a line before.
// Stack        Tasks that await each other, however many, use no more stack than one.
// Cost         One allocation for the frame of each call; none for a co_await.

#include <type_traits>
#include <utility>

#include "fermata/sync/task_frame.hpp"

namespace fermata {

template <class T = void>
class [[nodiscard]] Task {
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && std::is_same_v<T, std::decay_t<T>>),
                "Task: expected void or the type of a value, not of a reference or an array");

 public:
  using promise_type = detail::TaskPromise<T>;
  /// Marks what a body may be or return; see core/lazy_body.hpp.
  using RunsWhenCalled = void;

  /// An empty one is left behind.
  Task(Task&& other) noexcept = default;
  Task& operator=(Task&& other) noexcept = default;
  ~Task() = default;

  /// Whether it can be run: it has not been, and was not moved from.
  explicit operator bool() const noexcept { return static_cast<bool>(frame_); }

  /// Runs it in the current coroutine, and returns or throws what it does; it is empty from then
  /// on. May suspend. Throws UsageError when it is empty, and outside of a coroutine. This makes it
  /// a body for spawn.
  T operator()() { return run("Task", detail::kEmptyInCall); }

 private:
  template <class U>
  friend U await(Task<U>&& task);
  template <class X>
  friend auto detail::wait_in_task(X&& what, const SourcePlace& place);
  friend promise_type;

  explicit Task(detail::TaskFrame<T>&& frame) noexcept : frame_(std::move(frame)) {}

  /// Gives up the frame. Throws UsageError, with `refusal`, when there is none.
  [[nodiscard]] detail::TaskFrame<T> release(const char* refusal) {
    FERMATA_REQUIRE(frame_, refusal);
    return std::move(frame_);
  }
  T run(const char* caller, const char* refusal) {
    detail::require_carrier(caller);
    const detail::TaskFrame<T> frame = release(refusal);
    detail::TaskChain chain;
    frame.promise().begin(chain, nullptr);
    chain.run(frame.handle());
    return frame.promise().take_result();
  }

  detail::TaskFrame<T> frame_;
};

inline Task<void> detail::TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(TaskFrame<void>(TaskFrame<void>::Handle::from_promise(*this)));
}

/// Runs `task` in the current coroutine, and returns or throws what it does. May suspend. Throws
/// UsageError when it was awaited, spawned or moved from before, and outside of a coroutine.
template <class T>
T await(Task<T>&& task) {
  return task.run("await", detail::kEmptyInAwait);
}

/// A Task is awaited once, so a name must give it away: `await(std::move(task))`.
template <class T>
void await(const Task<T>& /*task*/) {
  static_assert(!detail::kIsTask<Task<T>>,
                "await: a Task is awaited once: expected a call that returns one, or "
                "std::move(task)");
}

}  // namespace fermata
