// SPDX-License-Identifier: Apache-2.0
// expects: ScopeCancelOptions

#include <fermata/runtime.hpp>

void stop(const fermata::Scope& scope) { scope.cancel(std::current_exception()); }
