// SPDX-License-Identifier: Apache-2.0
// expects: on_receive: expected a handler that takes a std::optional

#include <fermata/runtime.hpp>

void look(fermata::Channel<int>& channel) {
  fermata::select(fermata::on_receive(channel, [](const std::string&) {}));
}
