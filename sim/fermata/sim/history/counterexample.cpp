// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/history/counterexample.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {
namespace {

/// A search beyond this is given up for one that drops less.
constexpr std::uint64_t kOneSearch = 20'000;
/// What many loose operations may have done takes long to find out.
constexpr std::size_t kMostAtOnce = 64;

/// What was known when `position` was reached.
std::vector<OperationSpan> beginning(std::span<const OperationSpan> spans, std::uint32_t position) {
  std::vector<OperationSpan> result;
  for (OperationSpan span : spans) {
    FERMATA_ASSERT(span.invoked < span.responded);
    if (span.invoked > position) continue;
    if (!span.is_loose() && span.responded > position) {
      span.responded = OperationSpan::kNever;
      span.only_reads = false;  // With another result it may have changed something.
    }
    result.push_back(span);
  }
  return result;
}

/// The position of the first response that nothing explains. All before `search.furthest` can be
/// explained, and the whole cannot; so can that response when what is under way then may still have
/// another result than it had in the end.
std::uint32_t first_unexplained(std::span<const OperationSpan> spans,
                                const LinearizationSearch& search, Semantics& semantics) {
  std::vector<std::uint32_t> responses;
  for (const OperationSpan& span : spans) {
    if (!span.is_loose() && span.responded >= search.furthest) {
      responses.push_back(span.responded);
    }
  }
  std::sort(responses.begin(), responses.end());
  FERMATA_ASSERT(!responses.empty());
  const std::uint64_t limit = search.configurations + kOneSearch;
  const auto may_be_explained = [&](std::uint32_t position) {
    return find_linearization(beginning(spans, position), semantics, limit).answer !=
           Linearizability::No;
  };
  if (responses.size() == 1 || !may_be_explained(responses.front())) return responses.front();
  return *std::partition_point(responses.begin() + 1, responses.end() - 1, may_be_explained);
}

class Reduction {
 public:
  Reduction(std::vector<OperationSpan> spans, Semantics& semantics, std::uint64_t budget)
      : spans_(std::move(spans)), dropped_(spans_.size()), semantics_(semantics), left_(budget) {}

  /// Drops what does not matter, many at a time and then one by one. What responds at `last` stays.
  void run(std::uint32_t last) {
    last_ = last;
    for (std::size_t many = std::min(spans_.size(), kMostAtOnce); many > 0; many /= 2) {
      for (std::size_t from = 0; from < spans_.size(); from += many) {
        try_without(from, std::min(from + many, spans_.size()));
      }
    }
  }

  /// The operations of `spans`, which it began with, that were not dropped or are in `order`.
  [[nodiscard]] std::vector<OperationSpan> kept(std::span<const OperationSpan> spans,
                                                const std::vector<std::uint32_t>& order) const {
    FERMATA_ASSERT(spans.size() == dropped_.size());
    std::vector<OperationSpan> result;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const bool placed = std::find(order.begin(), order.end(), spans[i].operation) != order.end();
      if (!dropped_[i] || placed) result.push_back(spans[i]);
    }
    return result;
  }

  /// What cannot be explained; what was dropped is loose, or left out when it only reads.
  [[nodiscard]] std::vector<OperationSpan> demands() const {
    std::vector<OperationSpan> result;
    for (const OperationSpan& span : spans_) {
      if (!span.is_loose() || !span.only_reads) result.push_back(span);
    }
    return result;
  }

 private:
  void try_without(std::size_t from, std::size_t to) {
    FERMATA_ASSERT(from < to);
    FERMATA_ASSERT(to <= spans_.size());
    const std::vector<OperationSpan> before(spans_.begin() + static_cast<std::ptrdiff_t>(from),
                                            spans_.begin() + static_cast<std::ptrdiff_t>(to));
    if (!weaken(from, to)) return;
    const bool unexplained = has_no_explanation();
    for (std::size_t i = from; i < to; ++i) {
      if (unexplained) {
        dropped_[i] = dropped_[i] || before[i - from].responded != last_;
      } else {
        spans_[i] = before[i - from];
      }
    }
  }

  /// Whether anything of it was kept until now. What only reads is left out wholly.
  bool weaken(std::size_t from, std::size_t to) {
    bool any = false;
    for (std::size_t i = from; i < to; ++i) {
      if (dropped_[i] || spans_[i].responded == last_) continue;
      spans_[i].responded = OperationSpan::kNever;
      any = true;
    }
    return any;
  }

  bool has_no_explanation() {
    const std::uint64_t limit = std::min(left_, kOneSearch);
    if (limit == 0) return false;
    const LinearizationSearch search = find_linearization(demands(), semantics_, limit);
    left_ -= std::min(left_, search.configurations);
    return search.answer == Linearizability::No;
  }

  std::vector<OperationSpan> spans_;
  std::vector<bool> dropped_;
  Semantics& semantics_;
  std::uint64_t left_;
  std::uint32_t last_ = 0;
};

}  // namespace

Counterexample find_counterexample(std::span<const OperationSpan> spans,
                                   const LinearizationSearch& search, Semantics& semantics,
                                   std::uint64_t limit) {
  FERMATA_ASSERT(search.answer == Linearizability::No);
  const std::uint32_t last = first_unexplained(spans, search, semantics);
  const std::vector<OperationSpan> known = beginning(spans, last);
  Reduction reduction(known, semantics, limit);
  reduction.run(last);

  const auto longest_of = [&](std::span<const OperationSpan> some) {
    return find_linearization(some, semantics, search.configurations + kOneSearch).order;
  };
  const std::vector<std::uint32_t> needed = longest_of(reduction.demands());
  // What comes back has the response that it had, which may be another than the others need.
  Counterexample result;
  result.longest_order = longest_of(reduction.kept(known, needed));
  result.spans = reduction.kept(known, result.longest_order);
  std::sort(result.spans.begin(), result.spans.end(),
            [](const OperationSpan& a, const OperationSpan& b) { return a.invoked < b.invoked; });
  for (const OperationSpan& span : result.spans) {
    if (span.responded == last) result.unexplained = span.operation;
  }
  return result;
}

}  // namespace fermata::sim::detail
