// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a waiter gets when the work that it waits for was cancelled: an error of a kind that its own
// cancellation never has. And the other way round, what a coroutine gets that is cancelled because
// of such an error.

#include <exception>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/base/exception_ptr_cast.hpp"

namespace fermata::detail {

/// The error of one piece of work as all of its waiters get it.
class AwaitedError {
 public:
  /// `error` itself, or, when that is a cancellation, an AwaitedCancelled whose previous it is: the
  /// same object for every waiter (CORE-CO-09, FUT-04). `name_of` gives the work's name.
  template <class NameOf>
  [[nodiscard]] std::exception_ptr of(const std::exception_ptr& error, NameOf name_of) {
    if (kept_) return kept_;
    return is_for_the_work_alone(error) ? make(error, name_of) : error;
  }

  /// What of() has made; null when it has made nothing.
  [[nodiscard]] const std::exception_ptr& kept() const noexcept { return kept_; }
  /// The error that waiters get instead of `error`, which is for the work alone.
  template <class NameOf>
  [[nodiscard]] const std::exception_ptr& make(const std::exception_ptr& error, NameOf name_of) {
    const std::string text = std::string(name_of()) + " was cancelled: " + message_of(error);
    return kept_ = AwaitedCancelled(text).with_previous(error);
  }

  /// Whether `error` is a cancellation, and not one that was passed on from work which the failed
  /// one has waited for itself.
  [[nodiscard]] static bool is_for_the_work_alone(const std::exception_ptr& error) noexcept {
    return is_cancellation(error) && exception_ptr_cast<AwaitedCancelled>(error) == nullptr;
  }

 private:
  std::exception_ptr kept_;
};

/// What a coroutine gets that is cancelled because of `reason`: that itself, or a cancellation
/// which says the same when it would tell its taker that something else has ended. Null when it is
/// not a Cancellation.
[[nodiscard]] std::exception_ptr as_own_cancellation(const std::exception_ptr& reason);

}  // namespace fermata::detail
