// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of SimKernel share: how a call begins, waits and ends.

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/posix/interruptible_wait.hpp"
#include "fermata/sim/posix/kernel.hpp"
#include "fermata/sim/posix/socket.hpp"

namespace fermata::sim::detail {

/// Whether a call waits when there is nothing to transfer.
[[nodiscard]] inline bool blocks(const Description& description, int flags = 0) noexcept {
  return (description.status & O_NONBLOCK) == 0 && (flags & MSG_DONTWAIT) == 0;
}

// Nothing may be thrown through foreign frames. A cancellation is kept for the next operation of
// Fermata; who is unwound by force is told again by each.
template <class Wait>
int SimKernel::suspended_if_possible(const Wait& wait, bool lets_signals_in) {
  idle_calls_ = 0;
  CoroutineBase* const current = current_runtime().current();
  if (current == nullptr) return -EDEADLK;
  const SourcePlace place = this->place();
  const bool was_cancelled = current->is_cancellation_requested();
  const WaitEnd end =
      wait_interruptibly(signals_, lets_signals_in, [&](Event* token) { wait(place, token); });
  switch (end.why) {
    case WaitEnd::Why::Done:
      return 0;
    case WaitEnd::Why::TimedOut:
      return -ETIMEDOUT;
    case WaitEnd::Why::Signal:
      return -EINTR;
    case WaitEnd::Why::Cancelled:
      current->cancel(end.cancellation);
      return was_cancelled ? -ECANCELED : -EINTR;
    case WaitEnd::Why::Refused:
      return -EDEADLK;
    case WaitEnd::Why::Unwound:
      break;
  }
  return -ECANCELED;
}

template <class Wait>
int SimKernel::suspended(const char* call, const Wait& wait) {
  const int code = suspended_if_possible(wait);
  return code == -EDEADLK ? refuse_wait(call) : code;
}

template <class Operation>
auto SimKernel::with(const char* call, int descriptor, const Operation& operation) {
  using Result = decltype(operation(std::shared_ptr<Description>()));
  if (const int code = enter(call)) return static_cast<Result>(code);
  int code = 0;
  const std::shared_ptr<Description> found = share(descriptor, code);
  return found == nullptr ? static_cast<Result>(code) : operation(found);
}

// What leaves jumps over frames that have handlers of C: nothing of ours may be alive then.
template <class Operation>
auto SimKernel::with_waiting(const char* call, int descriptor, const Operation& operation) {
  leave_if_endless();
  const auto result = with(call, descriptor, operation);
  leave_if_interrupted(result);
  return result;
}

template <class Operation>
auto SimKernel::with_socket(const char* call, int descriptor, const Operation& operation) {
  return with(call, descriptor, [&](const std::shared_ptr<Description>& found) -> int {
    Socket* const socket = found->as_socket();
    return socket == nullptr ? -ENOTSOCK : operation(*socket);
  });
}

template <class Attempt>
ssize_t SimKernel::transfer(const Way& way, std::shared_ptr<Description> description,
                            posix::Limit limit, std::span<const iovec> pieces,
                            const Attempt& attempt) {
  std::vector<iovec> left;  // Once a part is done.
  const std::size_t all = size_of(pieces);
  std::size_t moved = 0;
  const Instant end = limit ? shown_now() + *limit : Instant::never();
  for (;;) {
    const ssize_t result = attempt(moved == 0 ? pieces : std::span<const iovec>(left));
    if (result > 0) {
      moved += static_cast<std::size_t>(result);
      if (!way.whole || !way.waits || moved >= all) return static_cast<ssize_t>(moved);
      if (left.empty()) left.assign(pieces.begin(), pieces.end());
      drop_front(left, static_cast<std::size_t>(result));
      continue;
    }
    if (result != -EAGAIN) return moved > 0 ? static_cast<ssize_t>(moved) : result;
    if (!way.waits) {
      idle();
      return -EAGAIN;
    }
    const posix::Limit rest =
        limit ? posix::Limit(std::max(end - shown_now(), Duration::zero())) : std::nullopt;
    const int waited = wait(way.call, {{description, way.wanted, way.descriptor}}, rest, true);
    if (waited == 0) continue;
    if (moved > 0) return static_cast<ssize_t>(moved);
    return waited == -ETIMEDOUT ? -EAGAIN : waited;
  }
}

}  // namespace fermata::sim::detail
