// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which events keep a loop alive: loop references counted up and down one by one (CORE-EV-01).

#include <cstddef>
#include <cstdint>
#include <map>

namespace fermata::models {

class ActivityModel {
 public:
  void start(std::uint64_t event, bool counts) {
    State& state = events_[event];
    ++state.references;
    state.counts = counts;
  }
  void stop(std::uint64_t event) {
    const auto at = events_.find(event);
    if (at == events_.end()) return;
    if (--at->second.references == 0) events_.erase(at);
  }
  /// Everything is given back at once: it closed, or it fired for the last time.
  void leave(std::uint64_t event) { events_.erase(event); }

  [[nodiscard]] std::uint32_t references(std::uint64_t event) const {
    const auto at = events_.find(event);
    return at == events_.end() ? 0 : at->second.references;
  }
  /// How many of the events keep the loop alive.
  [[nodiscard]] std::size_t active_count() const {
    std::size_t count = 0;
    for (const auto& [event, state] : events_) count += state.counts ? 1 : 0;
    return count;
  }

 private:
  struct State {
    std::uint32_t references = 0;
    bool counts = false;
  };
  std::map<std::uint64_t, State> events_;
};

}  // namespace fermata::models
