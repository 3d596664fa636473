// SPDX-License-Identifier: Apache-2.0
#pragma once

// What limits around the code of one coroutine promise: each ends a wait when it has been reached,
// where nothing shelters the code from it, once and not before. Of several the outer one wins, and
// a cancellation of the coroutine wins over all.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/time.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::models {

class LimitModel {
 public:
  /// When the timeout of a limit ends, as exactly as is known; never for one without.
  struct End {
    Instant earliest = Instant::never();
    Instant latest = Instant::never();
  };

  /// The code is in one more limit, whose number is returned: its depth.
  std::size_t entered(const End& end) {
    limits_.push_back({end, shelters_});
    return limits_.size() - 1;
  }
  [[nodiscard]] std::size_t depth() const noexcept { return limits_.size(); }

  /// Protection, or a destructor, around the code from now on; and its end.
  void sheltered() noexcept { ++shelters_; }
  void exposed() noexcept { --shelters_; }
  [[nodiscard]] bool is_sheltered() const noexcept { return shelters_ > 0; }

  /// The code is about to wait; `has_fired` says of each limit whether its token has.
  template <class HasFired>
  void wait_begins(HasFired has_fired) {
    must_end_.reset();
    for (std::size_t i = 0; i < limits_.size() && !must_end_; ++i) {
      if (reaches(limits_[i]) && has_fired(i)) must_end_ = i;
    }
  }

  /// The wait has ended by itself, which could not happen before `due`.
  [[nodiscard]] Complaint wait_returned(Instant due) const {
    if (must_end_) return "CORE-CN-07 (CANC): a wait returns, and its limit had been reached";
    for (const Limit& each : limits_) {
      if (reaches(each) && each.end.latest < due) {
        return "CORE-CN-07 (TIME): a wait has gone on beyond its limit";
      }
    }
    return {};
  }

  /// The wait has ended by one of the limits, which is told from the others by its error.
  template <class HasFired>
  [[nodiscard]] Complaint told(const std::exception_ptr& error, Instant now, bool suspended,
                               HasFired has_fired) {
    if (must_end_ && suspended) return "CORE-CN-07 (WAKE): a wait whose limit had been reached";
    if (find(error) != told_.end()) return "CORE-CN-07 (ONCE): the code is told of a limit again";
    told_.push_back({error, must_end_});
    bool is_true = false;  // For this limit or one outside of it.
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      Limit& each = limits_[i];
      const bool may_tell = each.shelters == shelters_ && !each.called_off;
      is_true = is_true || (may_tell && (now >= each.end.earliest || has_fired(i)));
      each.maybe_told = each.maybe_told || is_true;
    }
    if (is_true) return {};
    if (cancelled_) return "CORE-CN-07 (CANC): a limit interrupts the end of what was cancelled";
    return "CORE-CN-07 (CANC): a limit interrupts code, and none has been reached";
  }

  /// A cancellation of the coroutine has reached the code: nothing else interrupts its end.
  void cancelled() noexcept {
    cancelled_ = !limits_.empty();
    for (Limit& each : limits_) each.called_off = true;
  }

  /// The code of the innermost limit has ended.
  void left() noexcept {
    limits_.pop_back();
    if (!limits_.empty()) return;
    cancelled_ = false;
    told_.clear();
  }
  /// The code of the innermost limit was ended by the limit that told with `error`.
  [[nodiscard]] Complaint left_by(const std::exception_ptr& error) {
    const std::size_t depth = limits_.size() - 1;
    const auto telling = find(error);
    const bool known = telling != told_.end();
    const bool by_inner = known && telling->outermost && *telling->outermost < depth;
    left();
    if (!known) return "CORE-CN-07 (CANC): a limit ends code that it has not told";
    return by_inner ? "CORE-CN-07 (ERR): an inner limit wins over an outer one" : Complaint();
  }

  /// Nothing can happen any more, and the coroutine waits.
  template <class HasFired>
  [[nodiscard]] Complaint at_rest(Instant now, HasFired has_fired) const {
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      if (reaches(limits_[i]) && (has_fired(i) || limits_[i].end.latest < now)) {
        return "CORE-CN-07 (WAKE): code waits on beyond its limit";
      }
    }
    return {};
  }

 private:
  struct Limit {
    End end;
    int shelters;             // Around it.
    bool maybe_told = false;  // By now nobody knows whether it tells the code, or an outer one has.
    bool called_off = false;
  };
  struct Telling {
    std::exception_ptr error;
    std::optional<std::size_t> outermost;  // The outermost that had been reached before the wait.
  };
  [[nodiscard]] std::vector<Telling>::const_iterator find(const std::exception_ptr& error) const {
    return std::find_if(told_.begin(), told_.end(),
                        [&](const Telling& each) { return each.error == error; });
  }
  /// Whether it must end a wait of the code here, once it has been reached.
  [[nodiscard]] bool reaches(const Limit& limit) const noexcept {
    return limit.shelters == shelters_ && !limit.maybe_told && !limit.called_off;
  }

  std::vector<Limit> limits_;  // From the outermost inwards.
  int shelters_ = 0;
  std::optional<std::size_t> must_end_;  // The outermost that ends the present wait.
  std::vector<Telling> told_;
  bool cancelled_ = false;
};

}  // namespace fermata::models
