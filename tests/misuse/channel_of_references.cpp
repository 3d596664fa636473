// SPDX-License-Identifier: Apache-2.0
// expects: Channel: the values must be objects

#include <fermata/runtime.hpp>

void open() { fermata::Channel<int&> channel("numbers", 1); }
