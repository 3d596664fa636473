// SPDX-License-Identifier: Apache-2.0
// expects: nodiscard

#include <fermata/runtime.hpp>

void watch(fermata::Event& event) {
  fermata::subscribe(event, [](fermata::Event&, const fermata::Outcome&) {});
}
