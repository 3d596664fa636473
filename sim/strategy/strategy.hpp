// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who answers the draws of a run. A strategy knows nothing of worlds, tapes and runtimes.
//
// Calm       Answer 0 is production's choice: first in, first out, least latency, no fault.
// Repeatable The answers depend on the seed, on the questions and on what `name()` tells, on
//            nothing else.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fermata/runtime/core/chooser.hpp"
#include "fermata/runtime/core/coroutine.hpp"
#include "fermata/runtime/core/ready_queue.hpp"

namespace fermata::sim {

/// The coroutines of which one runs next, in production's order.
class Candidates {
 public:
  explicit Candidates(const fermata::detail::ReadyQueue& ready) noexcept
      : ready_(&ready), size_(ready.size()) {}
  explicit Candidates(std::span<const std::uint64_t> paths) noexcept
      : paths_(paths.data()), size_(paths.size()) {}

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The stable identity of one.
  [[nodiscard]] std::uint64_t path(std::size_t index) const noexcept {
    return ready_ != nullptr ? (*ready_)[index].path() : paths_[index];
  }

 private:
  const fermata::detail::ReadyQueue* ready_ = nullptr;
  const std::uint64_t* paths_ = nullptr;
  std::size_t size_;
};

/// How often something happens that is not calm.
struct Odds {
  std::uint32_t numerator = 1;
  std::uint32_t denominator = 1;
};

class Strategy {
 public:
  virtual ~Strategy() = default;

  /// What creates this strategy again with all that it has learnt, as make_strategy reads it.
  [[nodiscard]] virtual std::string name() const = 0;

  virtual void begin_run(std::uint64_t seed) = 0;

  /// The index of the candidate that runs next. REQUIRES: at least two.
  virtual std::size_t pick(const Candidates& candidates) = 0;

  /// A number in [0, bound), any number when `bound` is 0: uniform.
  virtual std::uint64_t draw(Stream stream, std::uint64_t key, std::uint64_t bound) = 0;

  /// Zero, except with `odds`: then uniform in [1, bound). REQUIRES: bound > 1.
  virtual std::uint64_t draw_rarely(Stream stream, std::uint64_t key, std::uint64_t bound,
                                    Odds odds) = 0;

  /// A run that picked `picks` times is over; what it teaches holds from the next one on.
  virtual void end_run(std::uint64_t picks) { static_cast<void>(picks); }
};

/// `fifo`, `random`, `calm` or `pct:D`, with what was learnt behind it (`pct:D:k=N`). Throws
/// fermata::Error, which lists the strategies there are, for any other text.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(std::string_view name);

}  // namespace fermata::sim
