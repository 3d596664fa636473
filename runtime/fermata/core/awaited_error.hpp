// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a waiter gets when the work that it waits for was cancelled: an error of a kind that its own
// cancellation never has.

#include <exception>
#include <string>

#include "fermata/base/error.hpp"

namespace fermata::detail {

/// The error of one piece of work as all of its waiters get it.
class AwaitedError {
 public:
  /// `error` itself, or, when that is a cancellation, an AwaitedCancelled whose previous it is: the
  /// same object for every waiter (CORE-CO-09, FUT-04). `name_of` gives the work's name.
  template <class NameOf>
  [[nodiscard]] std::exception_ptr of(const std::exception_ptr& error, NameOf name_of) {
    if (!is_cancellation(error) || is_of_awaited(error)) return error;
    if (!kept_) {
      const std::string text = std::string(name_of()) + " was cancelled: " + message_of(error);
      kept_ = AwaitedCancelled(text).with_previous(error);
    }
    return kept_;
  }

 private:
  /// Passed on from work that the failed one has waited for itself.
  [[nodiscard]] static bool is_of_awaited(const std::exception_ptr& error) noexcept {
    try {
      std::rethrow_exception(error);
    } catch (const AwaitedCancelled&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  std::exception_ptr kept_;
};

}  // namespace fermata::detail
