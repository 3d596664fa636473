// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/waits/deadlock_rings.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

namespace {

using Certainty = WaitGraph::Certainty;

bool is_stuck(const WaitGraph::Coroutine& coroutine) noexcept {
  return coroutine.state == WaitGraph::State::Waiting && !coroutine.sleeps;
}

class RingSearch {
 public:
  explicit RingSearch(const WaitGraph& graph) : graph_(graph), taken_(graph.coroutines.size()) {}

  std::vector<std::vector<RingStep>> search() {
    for (const Certainty limit : {Certainty::Known, Certainty::Likely, Certainty::Possible}) {
      limit_ = limit;
      search_longer_than(1);
      search_longer_than(0);
    }
    return std::move(rings_);
  }

 private:
  /// Who waits for nobody but itself is a ring too, if there is no longer one.
  void search_longer_than(std::size_t length) {
    for (;;) {
      std::vector<RingStep> shortest;
      for (std::size_t i = 0; i < graph_.coroutines.size(); ++i) {
        if (!open(i)) continue;
        std::vector<RingStep> ring = ring_from(i, length);
        if (ring.empty()) continue;
        if (shortest.empty() || ring.size() < shortest.size()) shortest = std::move(ring);
      }
      if (shortest.empty()) return;
      FERMATA_ASSERT(shortest.size() > length);
      for (const RingStep& step : shortest) {
        FERMATA_ASSERT(!taken_[step.coroutine]);
        taken_[step.coroutine] = true;
      }
      rings_.push_back(std::move(shortest));
    }
  }

  [[nodiscard]] bool open(std::size_t coroutine) const {
    return !taken_[coroutine] && is_stuck(graph_.coroutines[coroutine]);
  }

  std::vector<RingStep> ring_from(std::size_t start, std::size_t longer_than) const {
    FERMATA_ASSERT(open(start));
    std::vector<RingStep> reached_by(graph_.coroutines.size());
    std::vector<bool> seen(graph_.coroutines.size());
    std::deque<std::size_t> queue = {start};
    seen[start] = true;
    while (!queue.empty()) {
      const std::size_t at = queue.front();
      queue.pop_front();
      for (RingStep& step : steps_of(at)) {
        const std::size_t next = step.hold.by;
        FERMATA_ASSERT(next < seen.size());
        if (next == start) {
          if (at == start && longer_than > 0) continue;
          return closed(start, at, std::move(step), std::move(reached_by));
        }
        if (seen[next] || !open(next)) continue;
        seen[next] = true;
        reached_by[next] = std::move(step);
        queue.push_back(next);
      }
    }
    return {};
  }

  static std::vector<RingStep> closed(std::size_t start, std::size_t last, RingStep step,
                                      std::vector<RingStep> reached_by) {
    std::vector<RingStep> ring = {std::move(step)};
    for (std::size_t at = last; at != start;) {
      ring.push_back(std::move(reached_by[at]));
      at = ring.back().coroutine;
    }
    std::reverse(ring.begin(), ring.end());
    FERMATA_ASSERT(ring.front().coroutine == start);
    FERMATA_ASSERT(ring.back().coroutine == last);
    return ring;
  }

  [[nodiscard]] std::vector<RingStep> steps_of(std::size_t coroutine) const {
    std::vector<RingStep> steps;
    std::vector<bool> seen(graph_.objects.size());
    for (const WaitGraph::Wait& wait : graph_.coroutines[coroutine].waits) {
      if (!wait.only_ends) add_steps(coroutine, {wait.object}, seen, steps);
    }
    return steps;
  }

  void add_steps(std::size_t coroutine, std::vector<std::size_t> path, std::vector<bool>& seen,
                 std::vector<RingStep>& steps) const {
    FERMATA_ASSERT(!path.empty());
    const std::size_t last = path.back();
    FERMATA_ASSERT(last < seen.size());
    if (seen[last]) return;
    seen[last] = true;
    for (const WaitGraph::Hold& hold : graph_.objects[last].holds) {
      if (hold.certainty <= limit_) steps.push_back({coroutine, path, hold});
    }
    for (const std::size_t part : graph_.objects[last].parts) {
      path.push_back(part);
      add_steps(coroutine, path, seen, steps);
      path.pop_back();
    }
  }

  const WaitGraph& graph_;
  Certainty limit_ = Certainty::Known;
  std::vector<bool> taken_;
  std::vector<std::vector<RingStep>> rings_;
};

}  // namespace

std::vector<std::vector<RingStep>> find_rings(const WaitGraph& graph) {
  return RingSearch(graph).search();
}

}  // namespace fermata::sim::detail
