// SPDX-License-Identifier: Apache-2.0
#pragma once

// A look at the stack of a suspended context.

#include "fermata/context/context.hpp"

namespace fermata::detail {

/// Runs `visit(argument)` on top of the stack of `other`, which is suspended, and comes back: there
/// an unwinder sees the frames of `other`, which is left as it was. `running` is the context of the
/// caller. `visit` must not throw or switch contexts.
void run_on_top_of(StackContext& other, StackContext& running, void (*visit)(void*) noexcept,
                   void* argument) noexcept;

}  // namespace fermata::detail
