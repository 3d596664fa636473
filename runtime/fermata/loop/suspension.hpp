// SPDX-License-Identifier: Apache-2.0
#pragma once

// Suspending a callback, or the program that runs the loop, until code elsewhere resumes it.
//
// Identity     One for each callback that runs, each microtask, and each coroutine beside them:
//              Loop::suspension() gives the same one every time. When the callback has returned its
//              suspension is stale, though the next one may run on the same coroutine.
// Main         Whoever suspends while the loop does not run, which then runs until the resumption.
// Order        resume() and fail() never switch: a resumption is a microtask. Main's ends the run
// of
//              the loop right after the callback or microtask that asked for it; what else was
//              ready comes first when the loop runs again.
// End          When the loop is destroyed, suspended callbacks are cancelled and other suspended
//              coroutines get LoopEnded. Whoever suspends then is refused at once.
// Threads      The runtime's thread only. Other threads use Loop::post.

#include <any>
#include <exception>
#include <memory>
#include <typeinfo>
#include <utility>

#include "fermata/base/source_place.hpp"

namespace fermata::loop {

namespace detail {
struct Fiber;
[[noreturn]] void throw_wrong_value(const std::type_info& expected, const std::any& value);
}  // namespace detail

/// Resumes one particular suspend() and no other. Copies are the same ticket.
class Ticket {
 public:
  Ticket() noexcept = default;

  /// False when the suspension or its loop is dead. Throws SuspensionError when the ticket is used
  /// up.
  bool resume(std::any value = {}) const;
  bool fail(std::exception_ptr error) const;

  /// Whether resume() would resume.
  [[nodiscard]] bool valid() const noexcept;

 private:
  friend class Suspension;
  bool answer(std::any value, std::exception_ptr error) const;

  std::shared_ptr<detail::Fiber> fiber_;
  std::uint64_t round_ = 0;
};

class Suspension {
 public:
  Suspension() noexcept = default;
  explicit Suspension(std::shared_ptr<detail::Fiber> fiber) noexcept : fiber_(std::move(fiber)) {}

  /// Waits; returns the value that it is resumed with, or throws the error. Throws SuspensionError
  /// when it is pending already, belongs to somebody else, or is dead: main's is after an uncaught
  /// error or a LoopDeadlock, which this then throws. Throws LoopEnded when the loop has been
  /// destroyed; in a destructor (protect_in_destructor) it returns nothing then.
  std::any suspend(SourcePlace place = SourcePlace::current()) const;

  /// Suspends for a value of type `T`; UsageError when the value has another type.
  template <class T>
  T suspend_for(SourcePlace place = SourcePlace::current()) const {
    std::any value = suspend(place);
    T* const typed = std::any_cast<T>(&value);
    if (typed == nullptr) detail::throw_wrong_value(typeid(T), value);
    return std::move(*typed);
  }

  /// Returns true; false when it or its loop is dead. Throws SuspensionError when it is stale, and
  /// when it is not pending.
  bool resume(std::any value = {}) const;
  /// `error` is thrown from suspend(). Throws UsageError when it is null.
  bool fail(std::exception_ptr error) const;

  /// A ticket for the next suspend(), or for the pending one.
  [[nodiscard]] Ticket ticket() const;
  [[nodiscard]] bool pending() const noexcept;

  friend bool operator==(const Suspension&, const Suspension&) noexcept = default;

 private:
  bool answer(std::any value, std::exception_ptr error) const;

  std::shared_ptr<detail::Fiber> fiber_;
};

}  // namespace fermata::loop
