// SPDX-License-Identifier: Apache-2.0
#pragma once

// A wait of foreign code, through whose frames nothing is thrown, and which signals interrupt.

#include <cstdint>
#include <exception>
#include <optional>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"
#include "fermata/sim/posix/kept_caller.hpp"

namespace fermata::sim::detail {

struct WaitEnd {
  enum class Why : std::uint8_t {
    Done,
    TimedOut,
    Signal,     // A handler has run, or a signal is there that the coroutine asks for.
    Cancelled,  // By `cancellation`, which Fermata does not tell again.
    Refused,    // Nothing can wait here: the stack is that of a coroutine with another one on it.
    Unwound,    // The coroutine is ended by force, which each operation of Fermata tells it again.
  };
  Why why;
  std::exception_ptr cancellation = nullptr;
};

struct LeaveNothing {
  void operator()() const noexcept {}
};

/// Calls `wait` with an event that ends it by OperationCancelled, or with null, in the current
/// coroutine, and runs handlers of the signals that come meanwhile, unless these are kept out.
/// `leave` is called before they are run: a handler that jumps away never comes back to the frame
/// of who waits.
template <class Wait, class Leave = LeaveNothing>
WaitEnd wait_interruptibly(ForeignSignals& signals, bool lets_signals_in, const Wait& wait,
                           const Leave& leave = {}) {
  using Why = WaitEnd::Why;
  const KeptCaller kept;
  Runtime& runtime = current_runtime();
  std::optional<SignalArrival> arrival;
  std::optional<ForeignSignals::Waiting> waiting;
  signals.begin_waiting();
  if (lets_signals_in && signals.are_used()) {
    if (signals.has_for_current()) {
      leave();
      signals.deliver();
      return {Why::Signal};
    }
    waiting.emplace(signals, arrival.emplace(runtime));
  }
  try {
    wait(arrival ? &*arrival : nullptr);
    return {Why::Done};
  } catch (const Timeout&) {
    return {Why::TimedOut};
  } catch (const OperationCancelled&) {
    if (!arrival || !arrival->has_come()) return {Why::Cancelled, std::current_exception()};
  } catch (const Cancellation&) {  // A signal that has come as well stays pending.
    return {Why::Cancelled, std::current_exception()};
  } catch (const UsageError&) {
    return {Why::Refused};
  } catch (...) {
    runtime.scheduler().keep_unwinding();
    return {Why::Unwound};
  }
  waiting.reset();
  arrival.reset();
  leave();
  signals.deliver();
  return {Why::Signal};
}

}  // namespace fermata::sim::detail
