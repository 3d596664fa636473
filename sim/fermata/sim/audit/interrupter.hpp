// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ends the wait of one coroutine at one suspension point, so that a program can be seen to survive
// an interruption wherever it may come.

#include <cstdint>
#include <string>

#include "fermata/core/coroutine.hpp"
#include "fermata/core/waker.hpp"

namespace fermata::sim::detail {

enum class Interruption : std::uint8_t {
  Cancel,      // cancelled as soon as it has suspended
  LateCancel,  // cancelled when it has been woken and has not run yet
  Timeout,     // its wait's own timeout has passed; only where the wait has one
};

class Interrupter {
 public:
  /// The `point`-th suspension, from 1, of the coroutines whose ids are `first_id` or higher is
  /// interrupted; only suspensions count at which `how` is possible. REQUIRES: not armed.
  void arm(std::uint64_t first_id, Interruption how, std::uint64_t point);
  /// Stops interrupting; the results stay readable until it is armed again.
  void disarm() noexcept {
    armed_ = false;
    awaited_.reset();
  }
  [[nodiscard]] bool armed() const noexcept { return armed_; }

  /// The step that has just ended was `current`'s, if not null. REQUIRES: armed.
  void end_step(CoroutineBase* current);

  /// Whether the program came as far as the point.
  [[nodiscard]] bool reached() const noexcept { return seen_ >= point_; }
  /// Whether the coroutine was interrupted there.
  [[nodiscard]] bool fired() const noexcept { return fired_; }
  /// The coroutine that was interrupted and where, as text for people.
  [[nodiscard]] const std::string& victim() const noexcept { return victim_; }

 private:
  [[nodiscard]] bool counts(const CoroutineBase& coroutine) const noexcept;
  void cancel(CoroutineBase& coroutine);

  bool armed_ = false;
  bool fired_ = false;
  Interruption how_ = Interruption::Cancel;
  std::uint64_t first_id_ = 0;
  std::uint64_t point_ = 0;
  std::uint64_t seen_ = 0;
  Ref<CoroutineBase> awaited_;  // To be cancelled when it is woken.
  std::string victim_;
};

}  // namespace fermata::sim::detail
