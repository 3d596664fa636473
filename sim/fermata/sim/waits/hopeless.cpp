// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/hopeless.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

class HopelessSearch {
 public:
  explicit HopelessSearch(const WaitGraph& graph)
      : graph_(graph), hopeless_(graph.coroutines.size()) {}

  std::vector<std::size_t> search() {
    for (std::size_t i = 0; i < hopeless_.size(); ++i) {
      const WaitGraph::Coroutine& each = graph_.coroutines[i];
      hopeless_[i] = each.state == WaitGraph::State::Waiting && !each.sleeps && !each.waits.empty();
    }
    while (drop_one()) {
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < hopeless_.size(); ++i) {
      if (hopeless_[i]) found.push_back(i);
    }
    return found;
  }

 private:
  bool drop_one() {
    for (std::size_t i = 0; i < hopeless_.size(); ++i) {
      if (!hopeless_[i] || is_held_up(graph_.coroutines[i])) continue;
      hopeless_[i] = false;
      return true;
    }
    return false;
  }

  [[nodiscard]] bool is_held_up(const WaitGraph::Coroutine& coroutine) {
    FERMATA_ASSERT(!coroutine.waits.empty());
    FERMATA_ASSERT(coroutine.state == WaitGraph::State::Waiting);
    return std::all_of(coroutine.waits.begin(), coroutine.waits.end(), [&](const auto& wait) {
      seen_.assign(graph_.objects.size(), false);
      return never_fires(wait.object);
    });
  }

  [[nodiscard]] bool never_fires(std::size_t index) {
    FERMATA_ASSERT(index < seen_.size());
    if (seen_[index]) return false;
    seen_[index] = true;
    const WaitGraph::Object& object = graph_.objects[index];
    const auto part_never_fires = [&](std::size_t part) { return never_fires(part); };
    const auto& parts = object.parts;
    if (!parts.empty()) {
      return object.any_part ? std::all_of(parts.begin(), parts.end(), part_never_fires)
                             : std::any_of(parts.begin(), parts.end(), part_never_fires);
    }
    if (!object.abandoned.empty() || object.holder_ended) return true;
    if (object.kind == "event" && object.passive && object.only_waiters_refer) return true;
    return !object.has_far_end && is_in_hopeless_hands(object);
  }

  [[nodiscard]] bool is_in_hopeless_hands(const WaitGraph::Object& object) const {
    bool is_held = false;
    for (const WaitGraph::Hold& hold : object.holds) {
      if (hold.certainty != WaitGraph::Certainty::Known) continue;
      FERMATA_ASSERT(hold.by < hopeless_.size());
      if (!hopeless_[hold.by]) return false;
      is_held = true;
    }
    return is_held;
  }

  const WaitGraph& graph_;
  std::vector<bool> hopeless_;  // By coroutine.
  std::vector<bool> seen_;      // By object, on the way to one answer.
};

}  // namespace

std::vector<std::size_t> find_hopeless(const WaitGraph& graph) {
  return HopelessSearch(graph).search();
}

}  // namespace fermata::sim::detail
