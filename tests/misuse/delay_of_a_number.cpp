// SPDX-License-Identifier: Apache-2.0
// expects: Duration

#include <fermata/runtime.hpp>

void take_a_break() { fermata::delay(5); }
