// SPDX-License-Identifier: Apache-2.0
#pragma once

// A value that somebody promises and others wait for.
//
// Sides        Promise<T> writes, once; Future<T> reads. Both are handles: copies refer to the same
//              one. A T that can only be moved goes to whoever takes it first.
// Chains       map, catch_error and finally make new futures. Their handlers never run inside the
//              call that completes the source, but in a coroutine of the scope that was current
//              when they were registered; they may suspend. A handler that returns a future makes
//              a future of a future (FUT-08).
// Suspension   Nothing here suspends; await does.
// Threads      The runtime's thread only; a RemotePromise completes from another one.
// Source       FUT-01 to 18.

#include <concepts>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fermata/base/given_name.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sync/future_base.hpp"

namespace fermata {

template <class T>
class Future;

namespace detail {

template <class T>
class RemoteReaderOf;

struct Nothing {};

/// The placeholder for a T that is void.
template <class T>
using ValueOrNothing = std::conditional_t<std::is_void_v<T>, Nothing, T>;

/// In memory of the runtime's, so that a steady flow of them does not allocate.
template <class Block, class... Arguments>
[[nodiscard]] Block& make_block(Runtime& runtime, Arguments&&... arguments) {
  static_assert(alignof(Block) <= 64);
  void* block = runtime.blocks().allocate(sizeof(Block));
  try {
    return *::new (block) Block(std::forward<Arguments>(arguments)...);
  } catch (...) {
    runtime.blocks().release(block, sizeof(Block));
    throw;
  }
}

template <class T>
class FutureCore final : public FutureBase {
 public:
  static_assert(!std::is_reference_v<T>, "a future keeps a value: use a pointer");

  FutureCore(Runtime& runtime, PromiseOptions&& options, const SourcePlace& created) noexcept
      : FutureBase(runtime, std::move(options), created) {}

  [[nodiscard]] static Ref<FutureCore> make(Runtime& runtime, PromiseOptions&& options,
                                            const SourcePlace& created) {
    return Ref<FutureCore>::adopt(
        make_block<FutureCore>(runtime, runtime, std::move(options), created));
  }

  /// REQUIRES: it is pending.
  template <class... Value>
  void complete(const SourcePlace& place, Value&&... value) {
    FERMATA_ASSERT(!is_completed());
    resolve({store(std::forward<Value>(value)...), nullptr}, place);
  }

  /// Where the value is now; null when it is not wanted any more.
  template <class... Value>
  [[nodiscard]] void* store(Value&&... value) {
    if (is_completed()) return nullptr;
    return &value_.emplace(std::forward<Value>(value)...);
  }

  [[nodiscard]] ValueOrNothing<T>& value() const {
    FERMATA_REQUIRE(outcome().result != nullptr, "the future has no value");
    return *static_cast<ValueOrNothing<T>*>(outcome().result);
  }

 private:
  void destroy() noexcept override {
    BlockPool& blocks = runtime().blocks();
    this->~FutureCore();
    blocks.release(this, sizeof(FutureCore));
  }

  std::optional<ValueOrNothing<T>> value_;
};

template <class F, class T>
decltype(auto) call_with_value(F& function, const FutureCore<T>& source) {
  if constexpr (std::is_void_v<T>) {
    return function();
  } else {
    return function(std::as_const(source.value()));
  }
}

/// The value type of what map makes.
template <class F, class T>
using Mapped =
    std::decay_t<decltype(call_with_value(std::declval<F&>(), std::declval<FutureCore<T>&>()))>;

/// A handler F of a source of T; its child's value is a U.
template <ChainLink::Kind kKind, class F, class T, class U>
class ChainLinkOf final : public ChainLink {
 public:
  ChainLinkOf(Ref<FutureCore<U>> child, F&& function, const SourcePlace& place)
      : ChainLink(kKind, place), child_(std::move(child)), function_(std::move(function)) {}

 private:
  void* call(FutureBase& source) override {
    const Outcome& outcome = source.outcome();
    if constexpr (kKind == Kind::Map) {
      return keep([&]() -> decltype(auto) {
        return call_with_value(function_, static_cast<FutureCore<T>&>(source));
      });
    } else if constexpr (kKind == Kind::Catch) {
      return keep([&]() -> decltype(auto) { return function_(outcome.error); });
    } else if constexpr (std::is_invocable_v<F&, const Outcome&>) {
      function_(outcome);
      return nullptr;
    } else {
      function_();
      return nullptr;
    }
  }
  template <class Call>
  void* keep(Call call) {
    if constexpr (std::is_void_v<U>) {
      call();
      return child_->store();
    } else {
      return child_->store(call());
    }
  }
  [[nodiscard]] FutureBase& child() const noexcept override { return *child_; }
  void destroy() noexcept override {
    BlockPool& blocks = child_->runtime().blocks();
    this->~ChainLinkOf();
    blocks.release(this, sizeof(ChainLinkOf));
  }

  Ref<FutureCore<U>> child_;
  F function_;
};

}  // namespace detail

/// The reading side. Never used, and not ignored: a warning when the last handle goes; so too when
/// it failed and nobody has caught the error.
template <class T = void>
class Future {
 public:
  using Core = detail::FutureCore<T>;

  /// Refers to nothing.
  Future() noexcept = default;
  explicit Future(Ref<Core> core) noexcept : core_(std::move(core)) {}
  explicit operator bool() const noexcept { return static_cast<bool>(core_); }

  [[nodiscard]] static Future completed(detail::ValueOrNothing<T> value = {},
                                        SourcePlace place = SourcePlace::current());
  [[nodiscard]] static Future failed(std::exception_ptr error,
                                     SourcePlace place = SourcePlace::current());

  /// When this succeeds: a future of what `function` makes of the value, `function(const T&)`, or
  /// `function()` for void. It fails as this does.
  template <class F>
  auto map(F function, SourcePlace place = SourcePlace::current()) const;
  /// When this fails: a future of `function(std::exception_ptr)`, which gives a T. It succeeds as
  /// this does.
  template <class F>
  Future catch_error(F function, SourcePlace place = SourcePlace::current()) const;
  /// However this ends: runs `function()` or `function(const Outcome&)` and ends the same way. An
  /// error that `function` throws takes the place, with this one's as its previous (FUT-07).
  template <class F>
  Future finally(F function, SourcePlace place = SourcePlace::current()) const;

  /// Neither an unused result nor an unhandled error is worth a warning.
  const Future& ignore() const {
    core().ignore();
    return *this;
  }

  /// Fails a pending one with `reason`, which must hold a Cancellation (null: "Future has been
  /// cancelled"). Whoever works on it goes on, and learns from try_complete. No effect on a
  /// completed one (FUT-10).
  void cancel(std::exception_ptr reason = nullptr,
              SourcePlace place = SourcePlace::current()) const;

  [[nodiscard]] bool is_completed() const { return core().is_completed(); }
  [[nodiscard]] bool is_cancelled() const { return core().is_cancelled(); }
  /// How it failed; null while it is pending, and when it succeeded.
  [[nodiscard]] const std::exception_ptr& error() const { return core().outcome().error; }
  [[nodiscard]] const SourcePlace& created_place() const { return core().created_place(); }
  [[nodiscard]] const SourcePlace& completed_place() const { return core().completed_place(); }
  [[nodiscard]] std::string info() const { return core().info(); }

  // --- Awaitable ---

  [[nodiscard]] Event& event() const {
    FERMATA_REQUIRE(core_.get() != nullptr, kNothing);
    core_->break_if_abandoned();
    return *core_;
  }
  decltype(auto) result() const {
    if constexpr (!std::is_void_v<T>) return std::as_const(core().value());
  }
  /// A copy, or the value itself when it cannot be copied: then nobody else can have it.
  T take_result() const {
    if constexpr (std::is_void_v<T>) {
      return;
    } else if constexpr (std::is_copy_constructible_v<T>) {
      return core().value();
    } else {
      return std::move(core().value());
    }
  }

 private:
  static constexpr const char* kNothing = "the future refers to nothing";

  [[nodiscard]] Core& core() const {
    FERMATA_REQUIRE(core_.get() != nullptr, kNothing);
    core_->touched();
    return *core_;
  }
  template <class U>
  friend class Future;
  template <detail::ChainLink::Kind kKind, class U, class F>
  [[nodiscard]] Future<U> attach(F&& function, const SourcePlace& place) const;

  Ref<Core> core_;
};

/// The writing side. The last one that goes without having completed it breaks the promise.
template <class T = void>
class Promise {
 public:
  using Core = detail::FutureCore<T>;

  explicit Promise(backend::GivenName name = {}, SourcePlace place = SourcePlace::current())
      : Promise(PromiseOptions{.name = std::move(name)}, place) {}
  explicit Promise(PromiseOptions options, SourcePlace place = SourcePlace::current())
      : core_(Core::make(current_runtime(), std::move(options), place)) {
    core_->add_writer();
  }
  Promise(const Promise& other) noexcept : core_(other.core_) {
    if (core_) core_->add_writer();
  }
  Promise(Promise&& other) noexcept = default;
  Promise& operator=(Promise other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~Promise() {
    if (core_) core_->drop_writer();
  }

  [[nodiscard]] Future<T> future() const { return Future<T>(Ref<Core>::share(core())); }

  /// UsageError when it is completed already, with the place where (FUT-09).
  void complete(detail::ValueOrNothing<T> value,
                SourcePlace place = SourcePlace::current()) requires(!std::is_void_v<T>) {
    core().require_writable();
    core().complete(place, std::move(value));
  }
  void complete(SourcePlace place = SourcePlace::current()) requires(std::is_void_v<T>) {
    core().require_writable();
    core().complete(place);
  }
  /// `error` is a std::exception_ptr, or an exception to be thrown at the awaiters.
  template <class E>
  void fail(E error, SourcePlace place = SourcePlace::current()) {
    std::exception_ptr reason = as_error(std::move(error));
    core().require_writable();
    core().resolve({nullptr, std::move(reason)}, place);
  }

  /// False, and nothing happens, when it is completed already: by another promise, or because the
  /// reading side has cancelled it.
  bool try_complete(detail::ValueOrNothing<T> value,
                    SourcePlace place = SourcePlace::current()) requires(!std::is_void_v<T>) {
    if (!core().is_writable()) return false;
    core().complete(place, std::move(value));
    return true;
  }
  bool try_complete(SourcePlace place = SourcePlace::current()) requires(std::is_void_v<T>) {
    if (!core().is_writable()) return false;
    core().complete(place);
    return true;
  }
  template <class E>
  bool try_fail(E error, SourcePlace place = SourcePlace::current()) {
    std::exception_ptr reason = as_error(std::move(error));
    if (!core().is_writable()) return false;
    core().resolve({nullptr, std::move(reason)}, place);
    return true;
  }

  [[nodiscard]] bool is_completed() const { return core().is_completed(); }
  const Promise& ignore() const {
    core().ignore();
    return *this;
  }
  [[nodiscard]] const SourcePlace& created_place() const { return core().created_place(); }
  [[nodiscard]] const SourcePlace& completed_place() const { return core().completed_place(); }
  /// The coroutines that wait for the future.
  [[nodiscard]] std::vector<std::string> awaiting_info() const { return core().awaiting_info(); }
  [[nodiscard]] std::string info() const { return core().info(); }

 private:
  friend class detail::RemoteReaderOf<T>;

  [[nodiscard]] Core& core() const {
    FERMATA_REQUIRE(core_.get() != nullptr, "Promise: expected one that has not been moved from");
    core_->touched();
    return *core_;
  }
  template <class E>
  [[nodiscard]] static std::exception_ptr as_error(E&& error) {
    if constexpr (std::is_convertible_v<E, std::exception_ptr>) {
      std::exception_ptr reason = std::forward<E>(error);
      FERMATA_REQUIRE(reason != nullptr, "fail: there is no error in it");
      return reason;
    } else {
      return std::make_exception_ptr(std::forward<E>(error));
    }
  }

  Ref<Core> core_;
};

template <class T>
Future<T> Future<T>::completed(detail::ValueOrNothing<T> value, SourcePlace place) {
  auto core = Core::make(current_runtime(), {}, place);
  core->complete(place, std::move(value));
  return Future(std::move(core));
}

template <class T>
Future<T> Future<T>::failed(std::exception_ptr error, SourcePlace place) {
  FERMATA_REQUIRE(error != nullptr, "failed: there is no error in it");
  auto core = Core::make(current_runtime(), {}, place);
  core->resolve({nullptr, std::move(error)}, place);
  return Future(std::move(core));
}

template <class T>
template <class F>
auto Future<T>::map(F function, SourcePlace place) const {
  return attach<detail::ChainLink::Kind::Map, detail::Mapped<F, T>>(std::move(function), place);
}

template <class T>
template <class F>
Future<T> Future<T>::catch_error(F function, SourcePlace place) const {
  return attach<detail::ChainLink::Kind::Catch, T>(std::move(function), place);
}

template <class T>
template <class F>
Future<T> Future<T>::finally(F function, SourcePlace place) const {
  return attach<detail::ChainLink::Kind::Finally, T>(std::move(function), place);
}

template <class T>
template <detail::ChainLink::Kind kKind, class U, class F>
Future<U> Future<T>::attach(F&& function, const SourcePlace& place) const {
  using Link = detail::ChainLinkOf<kKind, std::decay_t<F>, T, U>;
  Runtime& runtime = core().runtime();
  Future<U> child(detail::FutureCore<U>::make(runtime, {}, place));
  core().attach(detail::make_block<Link>(runtime, child.core_, std::forward<F>(function), place));
  return child;
}

template <class T>
void Future<T>::cancel(std::exception_ptr reason, SourcePlace place) const {
  if (!reason) reason = std::make_exception_ptr(Cancellation("Future has been cancelled"));
  core().cancel(std::move(reason), place);
}

}  // namespace fermata
