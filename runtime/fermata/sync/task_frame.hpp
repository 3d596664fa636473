// SPDX-License-Identifier: Apache-2.0
#pragma once

// The frame of a Task: what the compiler keeps a body in, how it waits, and who resumes it.
//
// Waiting    co_await of an awaitable, an event or an operation does not suspend the frame. The
//            coroutine that runs the Task waits, on its own stack, in await_resume(); so the frame
//            is never suspended when somebody is cancelled or unwound.
// Chains     co_await of a Task does suspend the frame, and the run loop of TaskChain resumes the
//            other one, on the same stack. That needs no tail calls, which a compiler makes only
//            when it optimises.
// Errors     What leaves a body, a ForcedUnwind too, is kept and thrown on in whoever awaits the
//            Task; the frame goes while that exception is in flight, as a caller's variables do.

#include <concepts>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/awaitable.hpp"
#include "fermata/sync/task_operation.hpp"

namespace fermata {

template <class T>
class Task;

namespace detail {

template <class T>
class TaskPromise;

inline constexpr const char* kEmptyInCoAwait =
    "co_await: an empty Task: expected one that was not awaited, spawned or moved from before";
inline constexpr const char* kEmptyInAwait =
    "await: an empty Task: expected one that was not awaited, spawned or moved from before";
inline constexpr const char* kEmptyInCall =
    "Task: an empty Task: expected one that was not awaited, spawned or moved from before";

/// Throws UsageError, which names `caller`, unless a Task can be run here.
void require_carrier(const char* caller);

template <class X>
inline constexpr bool kIsTask = false;
template <class T>
inline constexpr bool kIsTask<Task<T>> = true;

template <class X>
concept Waitable = Awaitable<X> || std::derived_from<X, Event> || kIsOperation<X>;

/// Frames that await each other. One of them runs at a time.
class TaskChain {
 public:
  /// Resumes `first`, and whatever is next, until `first` has ended.
  void run(std::coroutine_handle<> first) {
    FERMATA_ASSERT(first && !next_);
    next_ = first;
    while (next_) std::exchange(next_, nullptr).resume();
  }
  /// Who is resumed when the frame that runs now has suspended; null ends the chain.
  void set_next(std::coroutine_handle<> next) noexcept {
    FERMATA_ASSERT(!next_);
    next_ = next;
  }

 private:
  std::coroutine_handle<> next_;
};

/// Waits when it is resumed, which is at once.
class WaitInCarrier {
 public:
  [[nodiscard]] static constexpr bool await_ready() noexcept { return true; }
  static constexpr void await_suspend(std::coroutine_handle<> /*awaiting*/) noexcept {}
};

/// X is a reference, or the type of a temporary that lives until the end of the co_await.
template <class X>
class WaitForAwaitable final : public WaitInCarrier {
 public:
  WaitForAwaitable(X&& awaitable, const SourcePlace& place) noexcept
      : awaitable_(std::forward<X>(awaitable)), place_(place) {}

  decltype(auto) await_resume() const {
    FERMATA_REQUIRE(event_of(awaitable_) != nullptr,
                    "co_await: an empty handle: expected one that refers to something");
    return await(std::forward<X>(awaitable_), {}, place_);
  }

 private:
  X&& awaitable_;
  SourcePlace place_;
};

class WaitForEvent final : public WaitInCarrier {
 public:
  WaitForEvent(Event& event, const SourcePlace& place) noexcept : event_(event), place_(place) {}
  void await_resume() const { wait(event_, {}, place_); }

 private:
  Event& event_;
  SourcePlace place_;
};

template <class F>
class WaitForOperation final : public WaitInCarrier {
 public:
  explicit WaitForOperation(F& operation) noexcept : operation_(operation) {}
  decltype(auto) await_resume() const { return operation_(); }

 private:
  F& operation_;
};

/// The one owner of a frame; null when there is none.
template <class T>
class TaskFrame {
 public:
  using Handle = std::coroutine_handle<TaskPromise<T>>;

  explicit TaskFrame(Handle handle) noexcept : handle_(handle) {}
  TaskFrame(TaskFrame&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  TaskFrame& operator=(TaskFrame&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~TaskFrame() {
    if (handle_) handle_.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  [[nodiscard]] Handle handle() const noexcept { return handle_; }
  [[nodiscard]] TaskPromise<T>& promise() const noexcept { return handle_.promise(); }

 private:
  Handle handle_;
};

/// Runs another Task, which it owns, until that has ended.
template <class T>
class WaitForTask {
 public:
  explicit WaitForTask(TaskFrame<T>&& frame) noexcept : frame_(std::move(frame)) {}

  [[nodiscard]] static constexpr bool await_ready() noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> awaiting) const noexcept {
    frame_.promise().begin(awaiting.promise().chain(), awaiting);
    awaiting.promise().chain().set_next(frame_.handle());
  }
  T await_resume() const { return frame_.promise().take_result(); }

 private:
  TaskFrame<T> frame_;
};

/// How the frame waits for what stands behind co_await.
template <class X>
auto wait_in_task(X&& what, const SourcePlace& place) {
  using Kind = std::remove_cvref_t<X>;
  if constexpr (kIsTask<Kind>) {
    static_assert(!std::is_reference_v<X> && !std::is_const_v<X>,
                  "co_await: a Task is awaited once: expected a call that returns one, or "
                  "std::move(task)");
    return WaitForTask(what.release(kEmptyInCoAwait));
  } else if constexpr (kIsOperation<Kind>) {
    return WaitForOperation(what);
  } else if constexpr (Awaitable<Kind>) {
    return WaitForAwaitable<X>(std::forward<X>(what), place);
  } else if constexpr (std::derived_from<Kind, Event>) {
    return WaitForEvent(what, place);
  } else {
    static_assert(Waitable<Kind>,
                  "co_await in a fermata::Task: expected a coroutine, a future, an event, another "
                  "Task, or an operation, as fermata::operation() makes of any function");
    return std::suspend_never();
  }
}

class TaskPromiseBase {
 public:
  TaskPromiseBase() noexcept = default;
  TaskPromiseBase(const TaskPromiseBase&) = delete;
  TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;

  void begin(TaskChain& chain, std::coroutine_handle<> awaiting) noexcept {
    FERMATA_ASSERT(chain_ == nullptr);
    chain_ = &chain;
    awaiting_ = awaiting;
  }
  [[nodiscard]] TaskChain& chain() const noexcept {
    FERMATA_ASSERT(chain_ != nullptr);
    return *chain_;
  }

  // --- for the compiler ---

  struct End {
    [[nodiscard]] static constexpr bool await_ready() noexcept { return false; }
    template <class Promise>
    static void await_suspend(std::coroutine_handle<Promise> ended) noexcept {
      ended.promise().chain().set_next(ended.promise().awaiting_);
    }
    static constexpr void await_resume() noexcept {}
  };

  [[nodiscard]] static constexpr std::suspend_always initial_suspend() noexcept { return {}; }
  [[nodiscard]] static constexpr End final_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error_ = std::current_exception(); }

  template <class X>
  [[nodiscard]] auto await_transform(X&& what, SourcePlace place = SourcePlace::current()) {
    return wait_in_task<X>(std::forward<X>(what), place);
  }

 protected:
  ~TaskPromiseBase() = default;

  void throw_error() {
    if (error_) std::rethrow_exception(std::move(error_));
  }

 private:
  TaskChain* chain_ = nullptr;        // From its first step on.
  std::coroutine_handle<> awaiting_;  // The Task that awaits it; null when a coroutine does.
  std::exception_ptr error_;
};

template <class T>
class TaskPromise final : public TaskPromiseBase {
 public:
  [[nodiscard]] Task<T> get_return_object() noexcept {
    return Task<T>(TaskFrame<T>(TaskFrame<T>::Handle::from_promise(*this)));
  }
  template <class U = T>
  requires(std::is_convertible_v<U&&, T>) void return_value(U&& value) {
    result_.emplace(std::forward<U>(value));
  }

  [[nodiscard]] T take_result() {
    throw_error();
    FERMATA_ASSERT(result_.has_value());
    return std::move(*result_);
  }

 private:
  std::optional<T> result_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  [[nodiscard]] inline Task<void> get_return_object() noexcept;
  static void return_void() noexcept {}

  void take_result() { throw_error(); }
};

}  // namespace detail
}  // namespace fermata
