// SPDX-License-Identifier: Apache-2.0
#include "properties/controls/control.hpp"

#include "properties/controls/canary.hpp"
#include "properties/controls/damage.hpp"

namespace fermata::properties {

std::vector<Control> controls() {
  std::vector<Control> all;
  for (const Canary& each : canaries()) {
    all.push_back({each.name, [each] { return complaint_about(each); }});
  }
  for (const Damage& each : damages()) {
    all.push_back({each.id, [each] { return complaint_about(each); }});
  }
  return all;
}

}  // namespace fermata::properties
