// SPDX-License-Identifier: Apache-2.0
#pragma once

// The physical limits below the floor: a bare fcontext jump, and a bare pooled stack entered once.

#include <boost/context/detail/fcontext.hpp>

#include "bench/floor/stacks.hpp"

namespace bench::raw {

namespace ctx = boost::context::detail;

/// A context that jumps straight back each time it is entered.
class Bouncer final {
 public:
  explicit Bouncer(StackPool& stacks)
      : other_(ctx::make_fcontext(stacks.take(), StackPool::kUsableBytes, &bounce)) {}

  /// Two one-way jumps: there and back.
  void there_and_back() { other_ = ctx::jump_fcontext(other_, nullptr).fctx; }

 private:
  static void bounce(ctx::transfer_t from) {
    for (;;) from = ctx::jump_fcontext(from.fctx, nullptr);
  }

  ctx::fcontext_t other_;
};

/// Takes a pooled stack, makes a context on it, jumps in and out, and gives the stack back.
inline void enter_once(StackPool& stacks) {
  char* top = stacks.take();
  ctx::fcontext_t context =
      ctx::make_fcontext(top, StackPool::kUsableBytes,
                         [](ctx::transfer_t from) { ctx::jump_fcontext(from.fctx, nullptr); });
  ctx::jump_fcontext(context, nullptr);
  stacks.give(top);
}

}  // namespace bench::raw
