// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may be asked of something that clients share, and whether an order explains what they were
// answered: every order is tried.

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace fermata::models {

enum class Asked : std::uint8_t {
  Get,
  Put,
  Change,  // put, where `expected` is found
  Remove,
  Enqueue,
  Dequeue,
  Acquire,  // by `value`
  TryAcquire,
  Release,
};

struct Request {
  Asked what = Asked::Get;
  int key = 0;
  int value = 0;
  int expected = 0;
};

/// A value that is zero or more, or one of these.
using Answer = int;
inline constexpr Answer kDone = -1;
inline constexpr Answer kNothing = -2;
inline constexpr Answer kYes = -3;
inline constexpr Answer kNo = -4;
inline constexpr Answer kNotYet = -5;  // Nobody is told that.

/// What is asked of it comes one after another.
class PlainObject {
 public:
  Answer apply(const Request& request) {
    std::deque<int> held = held_[request.key];
    const Answer answer = apply(request, held);
    held_.erase(request.key);
    if (!held.empty()) held_.emplace(request.key, std::move(held));
    return answer;
  }

  friend auto operator<=>(const PlainObject&, const PlainObject&) = default;

 private:
  static Answer apply(const Request& request, std::deque<int>& held) {
    const Answer first = held.empty() ? kNothing : held.front();
    switch (request.what) {
      case Asked::Get:
        return first;
      case Asked::Put:
        held = {request.value};
        return kDone;
      case Asked::Change:
        if (first != request.expected) return kNo;
        held = {request.value};
        return kYes;
      case Asked::Remove:
        held.clear();
        return first == kNothing ? kNo : kYes;
      case Asked::Enqueue:
        held.push_back(request.value);
        return kDone;
      case Asked::Dequeue:
        if (!held.empty()) held.pop_front();
        return first;
      case Asked::Acquire:
        if (first != kNothing) return kNotYet;
        held = {request.value};
        return kDone;
      case Asked::TryAcquire:
        if (first != kNothing) return kNo;
        held = {request.value};
        return kYes;
      case Asked::Release:
        if (first != request.value) return kNo;
        held.clear();
        return kDone;
    }
    return kNotYet;
  }

  std::map<int, std::deque<int>> held_;  // By key; none is empty.
};

/// One request; its moments are in the one order of all of them.
struct Recorded {
  Request request;
  std::size_t invoked = 0;
  std::optional<std::size_t> responded;
  Answer answer = kDone;  // If there was a response.
  bool happened = true;   // Or may have.

  /// From now on nobody knows its answer. That it has changed nothing is known still.
  void forget_answer() {
    const bool changed_nothing = request.what == Asked::Get || answer == kNo || answer == kNothing;
    if (responded && changed_nothing) happened = false;
    responded.reset();
  }
};

/// What was known when `end` came.
inline std::vector<Recorded> known_before(std::size_t end, std::vector<Recorded> all) {
  for (Recorded& each : all) {
    if (each.invoked >= end) each.happened = false;
    if (each.responded && *each.responded >= end) each.responded.reset();
  }
  return all;
}

/// Looks for an order of requests that explains their answers. One without a response may come at
/// any time after its invocation, or never.
class OrderSearch {
 public:
  /// `first` is what the object was before. The first `settled` requests came one after another
  /// before all others, and were answered rightly.
  OrderSearch(const PlainObject& first, std::vector<Recorded> all, std::size_t settled)
      : first_{first, std::vector<bool>(all.size())}, all_(std::move(all)), settled_(settled) {
    for (std::size_t i = 0; i < all_.size(); ++i) first_.taken[i] = !all_[i].happened;
  }

  [[nodiscard]] bool explains() {
    visited_.clear();
    Place place = first_;
    for (std::size_t i = 0; i < settled_; ++i) {
      if (!place.taken[i]) static_cast<void>(take(place, i));
    }
    return explains_from(place);
  }

  /// Whether this is an order of some of them.
  [[nodiscard]] bool allows(const std::vector<std::size_t>& order) const {
    Place place = first_;
    std::size_t begun = 0;  // The last invocation so far.
    for (const std::size_t each : order) {
      const Recorded& next = all_[each];
      if (place.taken[each] || (next.responded && *next.responded < begun)) return false;
      begun = std::max(begun, next.invoked);
      if (!take(place, each)) return false;
    }
    return true;
  }

 private:
  struct Place {
    PlainObject object;
    std::vector<bool> taken;
    friend auto operator<=>(const Place&, const Place&) = default;
  };

  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  [[nodiscard]] bool take(Place& place, std::size_t index) const {
    const Recorded& each = all_[index];
    const Answer answer = place.object.apply(each.request);
    place.taken[index] = true;
    return !each.responded || answer == each.answer;
  }

  /// Before this moment one of the others has to come.
  [[nodiscard]] std::size_t first_response(const Place& place) const {
    std::size_t first = kNever;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!place.taken[i]) first = std::min(first, all_[i].responded.value_or(kNever));
    }
    return first;
  }

  bool explains_from(const Place& place) {
    if (!visited_.insert(place).second) return false;
    const std::size_t due = first_response(place);
    if (due == kNever) return true;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (place.taken[i] || all_[i].invoked > due) continue;
      Place next = place;
      if (!take(next, i)) continue;
      const bool idle = !all_[i].responded && next.object == place.object;
      if (!idle && explains_from(next)) return true;
    }
    return false;
  }

  Place first_;
  std::vector<Recorded> all_;
  std::size_t settled_;
  std::set<Place> visited_;
};

}  // namespace fermata::models
