// SPDX-License-Identifier: Apache-2.0
#pragma once

// The SSE control and status word, which every jump of Boost.Context saves and restores.
//
// Loading a value other than the present one stalls the processor for some 90 ns, against 4 ns for
// the whole jump otherwise. The status half holds one sticky flag an exception: one inexact sum in
// one coroutine makes its word differ from all others', for good. So contexts run with every flag
// raised, where arithmetic changes nothing. Who wants to test for a floating-point exception
// clears the flags first, as <cfenv> has it anyway, and pays for it until they are raised again.

namespace fermata::detail {

#if defined(__x86_64__)
using FloatState = unsigned;

[[gnu::always_inline]] inline FloatState float_state() noexcept { return __builtin_ia32_stmxcsr(); }
[[gnu::always_inline]] inline void set_float_state(FloatState state) noexcept {
  if (state != float_state()) __builtin_ia32_ldmxcsr(state);
}
constexpr FloatState kFloatStatusFlags = 0x3f;
#else
using FloatState = unsigned;

inline FloatState float_state() noexcept { return 0; }
inline void set_float_state(FloatState) noexcept {}
constexpr FloatState kFloatStatusFlags = 0;
#endif

}  // namespace fermata::detail
