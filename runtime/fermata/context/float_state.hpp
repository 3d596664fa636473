// SPDX-License-Identifier: Apache-2.0
#pragma once

// The floating-point control words, which every jump of Boost.Context saves and restores, and why
// contexts run with every SSE status flag raised.
//
// Loading an SSE word (MXCSR) other than the present one stalls the processor for some 90 ns,
// against 4 ns for the whole jump otherwise. Half of that word is sticky flags, one an exception: a
// single inexact sum makes the word of one coroutine differ from all others', for good. With all
// flags raised arithmetic changes nothing. Who wants to test for a floating-point exception clears
// the flags first, as <cfenv> has it anyway, and pays for it until they are raised again.

namespace fermata::detail {

#if defined(__x86_64__)
struct FloatState {
  unsigned sse = 0;
  unsigned short x87_control = 0;
  bool operator==(const FloatState&) const = default;
};

[[gnu::always_inline]] inline FloatState float_state() noexcept {
  FloatState state{.sse = __builtin_ia32_stmxcsr()};
  asm volatile("fnstcw %0" : "=m"(state.x87_control));
  return state;
}

[[gnu::always_inline]] inline void set_float_state(const FloatState& state) noexcept {
  if (state == float_state()) return;
  __builtin_ia32_ldmxcsr(state.sse);
  asm volatile("fldcw %0" : : "m"(state.x87_control));
}

inline void raise_status_flags(FloatState& state) noexcept { state.sse |= 0x3f; }
#else
struct FloatState {
  bool operator==(const FloatState&) const = default;
};
inline FloatState float_state() noexcept { return {}; }
inline void set_float_state(const FloatState&) noexcept {}
inline void raise_status_flags(FloatState&) noexcept {}
#endif

}  // namespace fermata::detail
