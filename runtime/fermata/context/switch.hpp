// SPDX-License-Identifier: Apache-2.0
#pragma once

// Switching contexts. Internal to the runtime, as is jump.hpp, which shows Boost.Context.
//
// Everything here is force-inlined: what returns between two switches may be mispredicted, which
// takes as long as two raw switches.

#include "fermata/context/context.hpp"
#include "fermata/context/instrumentation.hpp"
#include "fermata/context/jump.hpp"

namespace fermata::detail {

/// First act of a context that was switched to: completes the switch that brought us here.
[[gnu::always_inline]] inline void arrive(StackContext& self, void* resumer) noexcept {
  self.resumer->registers = resumer;
  note_arrival(self);
  self.thread.exceptions->caught_exceptions = self.ambient.caught_exceptions;
  self.thread.exceptions->uncaught_exceptions = self.ambient.uncaught_exceptions;
  *self.thread.error_number = self.ambient.error_number;
}

/// Suspends `from`, which must be running, and runs `to`. Returns when someone switches back.
[[gnu::always_inline]] inline void switch_context(StackContext& from, StackContext& to) noexcept {
  from.ambient = {from.thread.exceptions->caught_exceptions,
                  from.thread.exceptions->uncaught_exceptions, *from.thread.error_number};
  to.resumer = &from;
  note_departure(from, to);
  arrive(from, jump(to.registers, &to));
}

/// The flow that ran here has ended and another one begins: it must not inherit a rounding mode or
/// an error number.
[[gnu::always_inline]] inline void begin_afresh(StackContext& self) noexcept {
  set_float_state(self.thread.float_state);
  *self.thread.error_number = 0;
}

/// Runs `to` and never comes back to `dying`, which is running and has been released.
[[noreturn, gnu::always_inline]] inline void leave_context(StackContext& dying,
                                                           StackContext& to) noexcept {
  to.resumer = &dying;
  note_last_departure(to);
  jump(to.registers, &to);
  __builtin_unreachable();
}

}  // namespace fermata::detail
