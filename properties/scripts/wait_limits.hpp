// SPDX-License-Identifier: Apache-2.0
#pragma once

// How long steps of a script wait at most, and what their waits share: a token that a step fires,
// an absolute deadline, and a coroutine that serves as a token.

#include <cstdint>
#include <string_view>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/interpreter/state.hpp"

namespace fermata::properties {

/// How many draws there are.
inline constexpr unsigned kLimitDraws = 16;

/// What a draw means, as a script shows it; empty for one that waits forever, as half of them do.
[[nodiscard]] std::string_view limit_text(std::uint8_t draw);

/// Whether a wait that begins with `token`, which may be null, ends at once.
[[nodiscard]] bool has_fired(const Event* token);

class WaitLimits {
 public:
  WaitLimits() = default;
  WaitLimits(const WaitLimits&) = delete;
  WaitLimits& operator=(const WaitLimits&) = delete;
  /// Nobody else cares for the error of a coroutine that was a token.
  ~WaitLimits();

  /// What a wait gets; `number` says how many milliseconds its limits are. Called in a coroutine.
  /// A deadline is shared until it has passed for somebody: one that nobody waits for passes
  /// unnoticed, and fires as soon as it is used again. A token that is closed may be used once
  /// more.
  [[nodiscard]] WaitOptions options(std::uint8_t draw, std::uint8_t number);

  /// Fires the shared token, or calls the shared deadline off; later waits get new ones.
  void fire(std::uint8_t number);

 private:
  [[nodiscard]] Event* token();
  [[nodiscard]] Event* deadline(std::uint8_t number);
  [[nodiscard]] Event* coroutine(std::uint8_t number);

  // The last ones are shared now; waits may have the others still.
  std::vector<Ref<PlainEvent>> tokens_;
  std::vector<Ref<backend::TimeoutEvent>> deadlines_;
  std::vector<Coroutine<>> coroutines_;
};

}  // namespace fermata::properties
