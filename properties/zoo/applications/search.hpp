// SPDX-License-Identifier: Apache-2.0
#pragma once

// All tapes of a program that have few decisions, one by one: what the smallest failing tape is can
// be proved for small programs by trying everything below it.

#include <cstdint>
#include <optional>
#include <vector>

#include "fermata/sim/record/failure.hpp"
#include "fermata/sim/tape/strategy.hpp"
#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

/// The answer to the draw with this index, picks and draws counted together, is not calm.
struct Deviation {
  std::size_t draw = 0;
  std::uint64_t answer = 0;
};

/// Answers calmly but for some deviations, and knows afterwards what could have been answered.
class DeviatingStrategy final : public sim::Strategy {
 public:
  /// In the order of the draws.
  std::vector<Deviation> deviations;

  /// The number of answers to each draw of the last run; 0 for any number.
  [[nodiscard]] const std::vector<std::uint64_t>& bounds() const noexcept { return bounds_; }

  [[nodiscard]] std::string name() const override { return "deviating"; }
  void begin_run(std::uint64_t /*seed*/) override {
    next_ = 0;
    bounds_.clear();
  }
  std::size_t pick(const sim::Candidates& candidates) override {
    return static_cast<std::size_t>(answer(candidates.size()));
  }
  std::uint64_t draw(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                     std::uint64_t bound) override {
    return answer(bound);
  }
  std::uint64_t draw_rarely(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                            std::uint64_t bound, sim::Odds /*odds*/) override {
    return answer(bound);
  }

 private:
  std::uint64_t answer(std::uint64_t bound);

  std::size_t next_ = 0;  // Of the deviations.
  std::vector<std::uint64_t> bounds_;
};

struct SearchResult {
  std::uint64_t runs = 0;
  /// The first tape that fails, and how; nothing when all pass.
  std::optional<sim::Failure> failure;
  std::vector<Deviation> tape;
};

/// Runs the buggy program with every tape of up to `most` decisions, until one fails. Of a draw
/// with more than 40 answers, as of the size of a short read, the two smallest, the one in the
/// middle and the largest are tried.
[[nodiscard]] SearchResult try_all_tapes(const Application& application, std::size_t most);

/// Runs it with this tape.
[[nodiscard]] std::optional<sim::Failure> run_buggy(const Application& application,
                                                    std::vector<Deviation> tape);

}  // namespace fermata::properties::zoo
