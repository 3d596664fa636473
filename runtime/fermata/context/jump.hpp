// SPDX-License-Identifier: Apache-2.0
#pragma once

// jump_fcontext, entered so that the returns around a switch are predicted.
//
// It is left by a jump. Entered by a call, it leaves its own address on the processor's stack of
// return addresses, and each return of the context that goes on is mispredicted, some 20 cycles
// for every frame. Entered by a jump, it leaves that stack to the callers: when a context goes on
// where the other one has stopped, in the same functions, its returns are predicted.
//
// This is for x86-64. On other processors it is called, and where -fcf-protection marks the targets
// of jumps.

#include <boost/context/detail/fcontext.hpp>

#if defined(__AVX512F__)
#define FERMATA_AVX512_REGISTERS                                                                \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25",   \
      "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", \
      "k7"
#else
#define FERMATA_AVX512_REGISTERS
#endif

namespace fermata::detail {

/// Suspends what runs and goes on at `to`, which gets `data` and where to come back to. Returns,
/// when somebody has come back, where from.
[[gnu::always_inline]] inline void* jump(void* to, void* data) noexcept {
#if defined(__x86_64__) && defined(__ELF__) && !defined(__CET__)
  // What a call does, by hand. The compiler sees none, so it must not keep anything below the
  // stack pointer: FermataCompiler.cmake takes the red zone from it.
  void* from;
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "jmp jump_fcontext@PLT\n"
      "1:"
      : "=&a"(from), "+D"(to), "+S"(data)
      :
      : "cc", "memory", "rcx", "rdx", "r8", "r9", "r10", "r11", "st", "st(1)", "st(2)", "st(3)",
        "st(4)", "st(5)", "st(6)", "st(7)", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6",
        "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15" FERMATA_AVX512_REGISTERS);
  return from;
#else
  return boost::context::detail::jump_fcontext(to, data).fctx;
#endif
}

}  // namespace fermata::detail

#undef FERMATA_AVX512_REGISTERS
