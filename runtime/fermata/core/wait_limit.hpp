// SPDX-License-Identifier: Apache-2.0
#pragma once

// A timeout and a token for all waits of a piece of code together; see sync/within.hpp.

#include <cstdint>
#include <optional>

#include "fermata/core/coroutine.hpp"
#include "fermata/core/limit.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"

namespace fermata::detail {

/// The limit of the current coroutine for as long as this lives, in which its token is armed as by
/// a wait. Limits nest; the outer one wins.
class WaitLimit final : public Limit {
 public:
  explicit WaitLimit(const WaitOptions& options);
  WaitLimit(const WaitLimit&) = delete;
  WaitLimit& operator=(const WaitLimit&) = delete;
  ~WaitLimit();

  /// Throws on the exception that is being handled, in the form in which the caller of the limited
  /// code gets it: Timeout or OperationCancelled when it is this limit that has ended the code.
  [[noreturn]] void throw_on(const LimitReached& reached) const;

 private:
  WaitLimit(const WaitOptions& options, CoroutineBase& owner);
  void start();
  void token_fired(Event& token, const std::exception_ptr& error);
  void reach(Event& source);

  CoroutineBase& owner_;
  Ref<Event> token_;
  std::optional<std::uint32_t> token_round_;  // In which it was started.
  std::optional<Timer> timer_;
  Subscription on_token_;
  Subscription on_timer_;
  bool by_token_ = false;
  std::exception_ptr cause_;  // With which the token has fired.
};

}  // namespace fermata::detail
