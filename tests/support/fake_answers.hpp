// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace fermata::test {

/// What a fake kernel answers where several answers are right, drawn before. 0 is the calm answer,
/// and so is everything once they are used up.
class FakeAnswers {
 public:
  explicit FakeAnswers(std::vector<std::uint8_t> drawn) : drawn_(std::move(drawn)) {}

  /// In [0, bound); 0 when calm.
  std::size_t below(std::size_t bound) noexcept {
    if (next_ == drawn_.size() || bound < 2) return 0;
    const std::size_t answer = drawn_[next_++] % bound;
    if (answer != 0) ++uncalm_;
    return answer;
  }
  /// Never when calm.
  bool once_in(std::size_t times) noexcept { return below(times) == times - 1; }

  /// From now on.
  void be_calm() noexcept { next_ = drawn_.size(); }
  /// How many were not calm.
  [[nodiscard]] std::size_t uncalm() const noexcept { return uncalm_; }

 private:
  std::vector<std::uint8_t> drawn_;
  std::size_t next_ = 0;
  std::size_t uncalm_ = 0;
};

}  // namespace fermata::test
