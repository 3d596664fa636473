// SPDX-License-Identifier: Apache-2.0
// expects: iterate: the callback

#include <fermata/runtime.hpp>

void visit(const std::vector<int>& items) {
  fermata::iterate(items, [](const std::string&) {});
}
