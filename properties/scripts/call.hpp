// SPDX-License-Identifier: Apache-2.0
#pragma once

// A call that an actor makes at a primitive: what must hold of every one, whatever the primitive
// and whatever the end. Its law is told of each way in which it ends, and so need not be written
// once for each.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>

#include "fermata/runtime.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::properties {

class Stage;
struct Cue;

/// What the model says, at the call, of how it must go.
enum class Due : std::uint8_t {
  Unknown,
  Now,    // it can be served or refused: the caller must not be suspended
  Kept,   // likewise, and the answer stays: neither a token nor a timeout has a say
  Later,  // there is nothing yet: it may not end well before the caller has been suspended
};

enum class Way : std::uint8_t {
  Returned,
  Cancelled,
  TimedOut,
  TokenFired,
  Refused,  // with an error of the primitive, or of its user
  Forced,   // the run ends
};

struct Ending {
  Way way;
  bool suspended;  // Whether the caller has let others run.

  [[nodiscard]] bool returned() const noexcept { return way == Way::Returned; }
  [[nodiscard]] bool forced() const noexcept { return way == Way::Forced; }
};

/// One that has not ended.
class Call {
 public:
  /// In the coroutine of the actor.
  Call(Stage& stage, const Cue& cue, Due due);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call();

  /// It has ended, with `error` unless that is null; complains of what must never be.
  [[nodiscard]] Ending ended(const std::exception_ptr& error) const;

  /// Nothing can happen any more, and its actor is parked.
  [[nodiscard]] models::Complaint at_rest() const;

 private:
  [[nodiscard]] models::Complaint judge(const Ending& ending) const;
  [[nodiscard]] models::Complaint judge_limits(const Ending& ending,
                                               const std::exception_ptr& error) const;

  Stage& stage_;
  std::size_t actor_;
  WaitOptions patience_;
  Due due_;
  bool fired_before_;  // The token.
  Instant start_;
  std::uint64_t ticks_;
  Call* outer_;
};

/// Carries `action` out and tells `law` how that ended, an Ending, before anybody else runs; then
/// its error goes on. `law` neither suspends nor throws.
template <class Action, class Law>
std::invoke_result_t<Action&> whatever_the_end(Stage& stage, const Cue& cue, Due due, Action action,
                                               Law law) {
  const Call call(stage, cue, due);
  const auto carry_out = [&]() -> std::invoke_result_t<Action&> {
    try {
      return action();
    } catch (...) {
      law(call.ended(std::current_exception()));
      throw;
    }
  };
  if constexpr (std::is_void_v<std::invoke_result_t<Action&>>) {
    carry_out();
    law(call.ended(nullptr));
  } else {
    auto result = carry_out();
    law(call.ended(nullptr));
    return result;
  }
}

}  // namespace fermata::properties
