// SPDX-License-Identifier: Apache-2.0
// expects: nodiscard

#include <fermata/runtime.hpp>

void look(fermata::Channel<int>& channel) {
  fermata::on_receive(channel, [](int) {});
}
