// SPDX-License-Identifier: Apache-2.0
#pragma once

// The events between a watch and whoever takes them, one by one: coalesced, debounced or as they
// came. Of a watch whose first events nobody saw, it knows the rest only when it was empty once.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "fermata/base/time.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::models {

class EventBufferModel {
 public:
  struct Event {
    std::string name;
    unsigned bits = 0;

    friend bool operator==(const Event&, const Event&) = default;
  };
  struct Manner {
    bool coalesces = false;
    std::optional<Duration> debounce, max_hold;
    std::string extension;  // Empty: all names.
  };
  /// Later than timers and computing make an event.
  static constexpr Duration kVeryLate = std::chrono::milliseconds(500);

  explicit EventBufferModel(Manner manner) : manner_(std::move(manner)) {}

  /// From now on every event is seen; some may have come before.
  void missed_some() { is_known_ = false; }

  void added(Event event, Instant now) {
    ++additions_;
    const bool passes = event.name.empty() || manner_.extension.empty() ||
                        event.name.ends_with("." + manner_.extension);
    if (!passes) return;
    if (manner_.debounce) event.name.clear();
    const auto same = std::find_if(events_.begin(), events_.end(),
                                   [&](const Event& each) { return each.name == event.name; });
    if (events_.empty()) first_ = now;
    last_ = now;
    if (same != events_.end() && (manner_.coalesces || manner_.debounce)) {
      same->bits |= event.bits;
    } else {
      events_.push_back(std::move(event));
    }
  }

  /// Somebody who has asked at `asked` has got `event`. `ended`: nothing is held back any more;
  /// `punctual`: nothing stands still.
  [[nodiscard]] Complaint taken(const Event& event, Instant asked, Instant now, bool ended,
                                bool punctual) {
    if (!is_known_) {
      const auto same = std::find_if(events_.begin(), events_.end(),
                                     [&](const Event& each) { return each.name == event.name; });
      if (same != events_.end()) events_.erase(same);
      if (manner_.debounce) is_known_ = true;
      return {};
    }
    if (events_.empty()) return "FS-02 (ONCE): '" + event.name + "' is told once more";
    const Event front = events_.front();
    events_.pop_front();
    if (front != event) {
      return "FS-02 (VAL): told of '" + event.name + "', " + std::to_string(event.bits) +
             ", expected '" + front.name + "', " + std::to_string(front.bits);
    }
    if (!manner_.debounce) return {};
    if (!ended && now < due()) return "FS-03 (TIME): an event is told before its time";
    if (punctual && now > std::max(asked, due()) + kVeryLate) {
      return "FS-03 (TIME): an event was held back for too long";
    }
    return {};
  }

  /// Whether there is something to be taken at once.
  [[nodiscard]] bool has_due(Instant now, bool ended) const {
    return !events_.empty() && (ended || now >= due());
  }

  [[nodiscard]] std::uint64_t additions() const { return additions_; }
  /// Somebody who asked when there had been so many additions has found nothing, without waiting.
  void found_empty(std::uint64_t additions) {
    if (is_known_ || manner_.debounce || additions != additions_) return;
    events_.clear();
    is_known_ = true;
  }

  /// Nothing follows.
  [[nodiscard]] Complaint finished() const {
    if (events_.empty()) return {};
    return "FS-04 (VAL): the watch has ended, and '" + events_.front().name + "' was not told";
  }

 private:
  [[nodiscard]] Instant due() const {
    if (!manner_.debounce) return {};
    const Instant quiet = last_ + *manner_.debounce;
    return manner_.max_hold ? std::min(quiet, first_ + *manner_.max_hold) : quiet;
  }

  Manner manner_;
  bool is_known_ = true;
  std::deque<Event> events_;
  std::uint64_t additions_ = 0;
  Instant first_, last_;  // With debounce.
};

}  // namespace fermata::models
