// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limits that code of a coroutine is inside of, as the scheduler knows them; see
// wait_limit.hpp.

#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

/// One of them, in a chain from the innermost outwards.
class Limit {
 public:
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  /// Whether `innermost` or one around it was reached, and the coroutine has not been told.
  [[nodiscard]] static bool any_is_due(const Limit* innermost) noexcept {
    return outermost_due(innermost) != nullptr;
  }
  /// The error of the outermost that is due; from now on none of them is. REQUIRES: there is one.
  [[nodiscard]] static std::exception_ptr take_due(Limit* innermost) noexcept {
    const Limit* const outermost = outermost_due(innermost);
    FERMATA_ASSERT(outermost != nullptr);
    for (Limit* each = innermost; each != nullptr; each = each->outer_) each->due_ = false;
    return outermost->error_;
  }

 protected:
  explicit Limit(Limit* outer) noexcept : outer_(outer) {}
  ~Limit() = default;

  Limit* outer_;
  std::exception_ptr error_;  // Once it has been reached.
  bool due_ = false;

 private:
  [[nodiscard]] static const Limit* outermost_due(const Limit* innermost) noexcept {
    const Limit* outermost = nullptr;
    for (const Limit* each = innermost; each != nullptr; each = each->outer_) {
      if (each->due_) outermost = each;
    }
    return outermost;
  }
};

/// What ends a wait of code whose limit has been reached; its clean-up sees a Cancellation.
class LimitReached final : public Linkable<LimitReached, Cancellation> {
 public:
  explicit LimitReached(const Limit& limit)
      : Linkable("The limit of the code around has been reached"), limit_(&limit) {}
  [[nodiscard]] bool is_of(const Limit& limit) const noexcept { return limit_ == &limit; }

 private:
  const Limit* limit_;
};

}  // namespace fermata::detail
