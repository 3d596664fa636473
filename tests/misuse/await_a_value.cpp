// SPDX-License-Identifier: Apache-2.0
// expects: Awaitable

#include <fermata/runtime.hpp>

int wait_for_five() { return fermata::await(5); }
