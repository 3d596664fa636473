// SPDX-License-Identifier: Apache-2.0
#pragma once

// Answers as an input of a fuzzer says: what it has an answer for is answered so, the rest is noise
// that is a function of the draw's key. So a run whose draws have changed in one place is answered
// as before everywhere else. The seed counts for nothing.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/tape/input.hpp"
#include "fermata/sim/tape/occurrences.hpp"
#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

/// A draw that a run has made.
struct AskedDraw {
  backend::RandomStream stream = backend::RandomStream::Schedule;
  std::uint32_t key = 0;  // As Answer::key.
  /// The bound of its answers; 0 when they are any 64-bit numbers.
  std::uint64_t bound = 0;
};

class BytesStrategy final : public Strategy {
 public:
  static constexpr std::size_t kMostRemembered = 4'096;

  explicit BytesStrategy(FuzzInput input = {}) : input_(std::move(input)) {}

  /// For the runs that begin from now on.
  void set_input(FuzzInput input) { input_ = std::move(input); }
  [[nodiscard]] const FuzzInput& input() const noexcept { return input_; }
  /// The draws of the last run, in order; at most the first kMostRemembered.
  [[nodiscard]] const std::vector<AskedDraw>& asked() const noexcept { return asked_; }

  [[nodiscard]] std::string name() const override { return "bytes:" + to_hex(input_.encode()); }
  void begin_run(std::uint64_t seed) override;
  std::size_t pick(const Candidates& candidates) override;
  std::uint64_t draw(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound) override;
  std::uint64_t draw_rarely(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound,
                            Odds odds) override;

 private:
  /// The input's answer to the draw; null when noise answers it.
  const Answer* answer(backend::RandomStream stream, std::uint64_t key, std::uint64_t bound);

  FuzzInput input_;
  Occurrences picks_;
  std::vector<AskedDraw> asked_;
};

}  // namespace fermata::sim
