// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/link_table.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

LinkState& LinkTable::between(Machine& from, Machine& to) {
  FERMATA_ASSERT(&from.host() == &from);
  FERMATA_ASSERT(&to.host() == &to);
  if (from.number() >= links_.size()) links_.resize(from.number() + 1);
  auto& links = links_[from.number()];
  if (to.number() >= links.size()) links.resize(to.number() + 1);
  auto& link = links[to.number()];
  if (link == nullptr) link = std::make_unique<LinkState>(all_, from, to);
  FERMATA_ASSERT(&link->from() == &from);
  FERMATA_ASSERT(&link->to() == &to);
  return *link;
}

}  // namespace fermata::sim::detail
