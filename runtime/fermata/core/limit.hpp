// SPDX-License-Identifier: Apache-2.0
#pragma once

// The limits that code of a coroutine is inside of, as the scheduler knows them; see
// wait_limit.hpp.

#include <exception>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"

namespace fermata::detail {

/// What keeps a coroutine from being interrupted, each counted as often as it is nested.
struct Shelter {
  int protections = 0;
  int destructors = 0;
  int exceptions = 0;  // That unwind its stack.

  /// Whether nothing was added to `other`.
  [[nodiscard]] bool is_within(const Shelter& other) const noexcept {
    return protections <= other.protections && destructors <= other.destructors &&
           exceptions <= other.exceptions;
  }
};

/// A limit of a piece of code, in a chain from the innermost outwards.
class Limit {
 public:
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

  /// Whether its code may be interrupted where `shelter` is: in none that is inside of the limit.
  [[nodiscard]] bool reaches_into(const Shelter& shelter) const noexcept {
    return shelter.is_within(shelter_);
  }
  /// Whether `innermost` or one around it was reached, and the coroutine has not been told.
  [[nodiscard]] static bool any_is_due(const Limit* innermost) noexcept {
    for (const Limit* each = innermost; each != nullptr; each = each->outer_) {
      if (each->due_) return true;
    }
    return false;
  }
  /// The error of the outermost that is due and reaches into `shelter`, or null. From
  /// now on the code counts as told.
  [[nodiscard]] static std::exception_ptr take_due(Limit* innermost,
                                                   const Shelter& shelter) noexcept {
    Limit* outermost = nullptr;
    for (Limit* each = innermost; each != nullptr; each = each->outer_) {
      if (each->due_ && each->reaches_into(shelter)) outermost = each;
    }
    if (outermost == nullptr) return nullptr;
    outermost->due_ = false;
    call_off(innermost, outermost);
    return outermost->error_;
  }
  /// The code has been told to end by `teller`, or by something else when that is null: none inside
  /// of it tells the code again, which would take it for the end of a smaller piece.
  static void call_off(Limit* innermost, const Limit* teller) noexcept {
    for (Limit* each = innermost; each != teller; each = each->outer_) {
      FERMATA_ASSERT(each != nullptr);
      each->called_off_ = true;
      each->due_ = false;
    }
  }

  /// What its code gets; null before it has been reached.
  [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }

 protected:
  Limit(Limit* outer, const Shelter& shelter) noexcept : outer_(outer), shelter_(shelter) {}
  ~Limit() = default;

  Limit* outer_;
  Shelter shelter_;           // Around it.
  std::exception_ptr error_;  // Once it has been reached.
  bool due_ = false;
  bool called_off_ = false;
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
