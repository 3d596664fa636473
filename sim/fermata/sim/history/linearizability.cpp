// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/history/linearizability.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/history/configuration_set.hpp"

namespace fermata::sim {

const char* to_string(Linearizability answer) noexcept {
  switch (answer) {
    case Linearizability::Yes:
      return "linearizable";
    case Linearizability::No:
      return "not linearizable";
    case Linearizability::Undecided:
      return "undecided";
  }
  return "undecided";
}

namespace detail {
namespace {

/// Bits, of which most below some place are set and all above another are not.
class WindowedBits {
 public:
  explicit WindowedBits(std::size_t bits) : words_(bits / 64 + 1) {}

  void set(std::size_t bit) noexcept {
    FERMATA_ASSERT(bit / 64 < words_.size());
    FERMATA_ASSERT((words_[bit / 64] >> (bit % 64) & 1U) == 0);
    words_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    end_ = std::max(end_, bit / 64 + 1);
    while (words_[begin_] == ~std::uint64_t{0}) ++begin_;
  }
  void clear(std::size_t bit) noexcept {
    FERMATA_ASSERT((words_[bit / 64] >> (bit % 64) & 1U) != 0);
    words_[bit / 64] &= ~(std::uint64_t{1} << (bit % 64));
    begin_ = std::min(begin_, bit / 64);
    while (end_ > 0 && words_[end_ - 1] == 0) --end_;
  }

  /// Where the words of append_to begin, below which all is set, and how many there are.
  [[nodiscard]] std::uint64_t window() const noexcept {
    return std::uint64_t{begin_} << 32U | (end_ > begin_ ? end_ - begin_ : 0);
  }
  void append_to(std::vector<std::uint64_t>& key) const {
    for (std::size_t i = begin_; i < end_; ++i) key.push_back(words_[i]);
  }

 private:
  std::vector<std::uint64_t> words_;  // One more than needed: some word is never full.
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// Candidates are the answered operations in the order of their invocations, then the loose ones.
class Searcher {
 public:
  Searcher(std::span<const OperationSpan> spans, Semantics& semantics, std::uint64_t limit)
      : semantics_(semantics),
        limit_(limit),
        linearized_(spans.size()),
        used_(words_for_loose(spans)),
        visited_(used_.size()) {
    for (const OperationSpan& span : spans) (span.is_loose() ? loose_ : answered_).push_back(span);
    const auto earlier = [](const OperationSpan& a, const OperationSpan& b) {
      return a.invoked < b.invoked;
    };
    std::sort(answered_.begin(), answered_.end(), earlier);
    std::sort(loose_.begin(), loose_.end(), earlier);
    FERMATA_ASSERT(answered_.size() + loose_.size() == spans.size());
    open_ = answered_.size();
    link_entries();
  }

  LinearizationSearch run() {
    state_ = semantics_.initial_state();
    visit(state_);
    begin_choosing();
    while (open_ > 0) {
      if (visited_.size() > limit_) return result(Linearizability::Undecided);
      if (!descend() && !back_up()) return result(Linearizability::No);
    }
    longest_ = order();
    FERMATA_ASSERT(longest_.size() >= answered_.size());
    return result(Linearizability::Yes);
  }

 private:
  /// An invocation or a response of an answered operation, in a list of those that are not placed.
  struct Entry {
    std::uint32_t position = 0;
    std::uint32_t candidate = 0;
    bool response = false;
    std::uint32_t next = 0;
    std::uint32_t previous = 0;
  };
  struct Ends {
    std::uint32_t invocation = 0;
    std::uint32_t response = 0;
  };
  /// A candidate that was placed, and where to go on when that was wrong.
  struct Frame {
    std::uint32_t candidate = 0;
    std::uint32_t from = 0;
    std::size_t choices = 0;  // Where the states to try instead begin.
    std::uint32_t cursor = 0;
    std::uint32_t loose_cursor = 0;
    bool committed = false;
  };

  static std::size_t words_for_loose(std::span<const OperationSpan> spans) {
    const auto loose = std::count_if(spans.begin(), spans.end(),
                                     [](const OperationSpan& span) { return span.is_loose(); });
    return (static_cast<std::size_t>(loose) + 63) / 64;
  }

  void link_entries() {
    for (std::uint32_t i = 0; i < answered_.size(); ++i) {
      entries_.push_back(Entry{.position = answered_[i].invoked,
                               .candidate = i,
                               .response = false,
                               .next = 0,
                               .previous = 0});
      entries_.push_back(Entry{.position = answered_[i].responded,
                               .candidate = i,
                               .response = true,
                               .next = 0,
                               .previous = 0});
    }
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.position < b.position; });
    head_ = static_cast<std::uint32_t>(entries_.size());
    FERMATA_ASSERT(head_ == 2 * answered_.size());
    entries_.emplace_back();
    ends_.resize(answered_.size());
    for (std::uint32_t i = 0; i <= head_; ++i) {
      entries_[i].next = i == head_ ? 0 : i + 1;
      entries_[i].previous = i == 0 ? head_ : i - 1;
      if (i == head_) break;
      Ends& ends = ends_[entries_[i].candidate];
      (entries_[i].response ? ends.response : ends.invocation) = i;
    }
  }

  [[nodiscard]] bool is_answered(std::uint32_t candidate) const noexcept {
    return candidate < answered_.size();
  }
  [[nodiscard]] const OperationSpan& span_of(std::uint32_t candidate) const noexcept {
    return is_answered(candidate) ? answered_[candidate] : loose_[candidate - answered_.size()];
  }

  void begin_choosing() noexcept {
    cursor_ = entries_[head_].next;
    loose_cursor_ = 0;
  }

  /// Places one more operation: whatever may come before the first response that is still due.
  bool descend() {
    for (; !entries_[cursor_].response; cursor_ = entries_[cursor_].next) {
      Frame frame = frame_of(entries_[cursor_].candidate);
      frame.committed = span_of(frame.candidate).only_reads && choices_.size() > frame.choices;
      if (take(frame)) return true;
      if (frame.committed) return false;
    }
    note_stop();
    for (; loose_cursor_ < loose_.size(); ++loose_cursor_) {
      if (loose_[loose_cursor_].invoked > entries_[cursor_].position) break;
      if (is_used(loose_cursor_)) continue;
      const auto candidate = static_cast<std::uint32_t>(answered_.size() + loose_cursor_);
      const Frame frame = frame_of(candidate);
      if (choices_.size() == frame.choices + 1 && makes_last_one_void(candidate)) {
        choices_.resize(frame.choices);
      } else if (take(frame)) {
        return true;
      }
    }
    return false;
  }

  /// Whether the last operation placed is a loose one too, and `candidate`, whose choices are the
  /// latest, would have come to the same without it.
  bool makes_last_one_void(std::uint32_t candidate) {
    if (frames_.empty() || is_answered(frames_.back().candidate)) return false;
    without_last_.clear();
    semantics_.expand(span_of(candidate).operation, true, frames_.back().from, without_last_);
    return without_last_.size() == 1 && without_last_.front() == choices_.back();
  }

  Frame frame_of(std::uint32_t candidate) {
    const Frame frame{.candidate = candidate,
                      .from = state_,
                      .choices = choices_.size(),
                      .cursor = cursor_,
                      .loose_cursor = loose_cursor_,
                      .committed = false};
    semantics_.expand(span_of(candidate).operation, !is_answered(candidate), state_, choices_);
    return frame;
  }

  /// Places its candidate with the next of its choices that leads to where we have not been.
  bool take(const Frame& frame) {
    while (choices_.size() > frame.choices) {
      const std::uint32_t to = choices_.back();
      choices_.pop_back();
      if (!is_answered(frame.candidate) && to == frame.from) continue;
      mark(frame.candidate);
      if (visit(to)) {
        state_ = to;
        if (is_answered(frame.candidate)) unlink(ends_[frame.candidate]);
        frames_.push_back(frame);
        begin_choosing();
        return true;
      }
      unmark(frame.candidate);
    }
    return false;
  }

  bool back_up() {
    while (!frames_.empty()) {
      const Frame frame = frames_.back();
      frames_.pop_back();
      FERMATA_ASSERT(frame.choices <= choices_.size());
      if (is_answered(frame.candidate)) relink(ends_[frame.candidate]);
      unmark(frame.candidate);
      state_ = frame.from;
      if (frame.committed) continue;
      cursor_ = frame.cursor;
      loose_cursor_ = frame.loose_cursor;
      if (take(frame)) return true;
      if (is_answered(frame.candidate)) {
        cursor_ = entries_[cursor_].next;
      } else {
        ++loose_cursor_;
      }
      return true;
    }
    return false;
  }

  void mark(std::uint32_t candidate) noexcept {
    if (is_answered(candidate)) {
      FERMATA_ASSERT(open_ > 0);
      linearized_.set(candidate);
      --open_;
    } else {
      flip_used(candidate - answered_.size());
    }
  }
  void unmark(std::uint32_t candidate) noexcept {
    if (is_answered(candidate)) {
      FERMATA_ASSERT(open_ < answered_.size());
      linearized_.clear(candidate);
      ++open_;
    } else {
      flip_used(candidate - answered_.size());
    }
  }

  bool visit(std::uint32_t state) {
    key_.clear();
    key_.push_back(state);
    key_.push_back(linearized_.window());
    linearized_.append_to(key_);
    return visited_.insert(key_, used_);
  }

  [[nodiscard]] bool is_used(std::size_t loose) const noexcept {
    return (used_[loose / 64] >> (loose % 64) & 1U) != 0;
  }
  void flip_used(std::size_t loose) noexcept {
    FERMATA_ASSERT(loose < loose_.size());
    used_[loose / 64] ^= std::uint64_t{1} << (loose % 64);
  }

  void unlink(const Ends& ends) noexcept {
    FERMATA_ASSERT(ends.invocation < ends.response);
    for (const std::uint32_t at : {ends.invocation, ends.response}) {
      entries_[entries_[at].previous].next = entries_[at].next;
      entries_[entries_[at].next].previous = entries_[at].previous;
    }
  }
  void relink(const Ends& ends) noexcept {
    for (const std::uint32_t at : {ends.response, ends.invocation}) {
      entries_[entries_[at].previous].next = at;
      entries_[entries_[at].next].previous = at;
    }
  }

  /// Without a loose operation, or going back, it goes no further.
  void note_stop() {
    furthest_ = std::max(furthest_, entries_[cursor_].position);
    FERMATA_ASSERT(entries_[cursor_].response);
    const std::size_t placed = answered_.size() - open_;
    if (placed <= most_placed_) return;
    most_placed_ = placed;
    longest_ = order();
  }

  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> operations;
    operations.reserve(frames_.size());
    for (const Frame& frame : frames_) operations.push_back(span_of(frame.candidate).operation);
    return operations;
  }

  LinearizationSearch result(Linearizability answer) {
    return LinearizationSearch{.answer = answer,
                               .configurations = visited_.size(),
                               .order = std::move(longest_),
                               .furthest = furthest_};
  }

  Semantics& semantics_;
  std::uint64_t limit_;
  std::vector<OperationSpan> answered_;
  std::vector<OperationSpan> loose_;
  std::vector<Entry> entries_;
  std::vector<Ends> ends_;
  std::uint32_t head_ = 0;
  std::size_t open_ = 0;  // Answered operations that are not placed.

  std::uint32_t state_ = 0;
  WindowedBits linearized_;
  std::vector<std::uint64_t> used_;  // A bit for each loose operation.
  std::uint32_t cursor_ = 0;
  std::uint32_t loose_cursor_ = 0;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> choices_;
  std::vector<std::uint32_t> without_last_;
  ConfigurationSet visited_;
  std::vector<std::uint64_t> key_;
  std::size_t most_placed_ = 0;
  std::uint32_t furthest_ = 0;  // The response that some order has come to, but not past.
  std::vector<std::uint32_t> longest_;
};

}  // namespace

LinearizationSearch find_linearization(std::span<const OperationSpan> spans, Semantics& semantics,
                                       std::uint64_t limit) {
  LinearizationSearch search = Searcher(spans, semantics, limit).run();
  FERMATA_ASSERT(search.order.size() <= spans.size());
  return search;
}

}  // namespace detail
}  // namespace fermata::sim
