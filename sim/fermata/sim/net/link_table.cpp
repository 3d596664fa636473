// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/link_table.hpp"

#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

LinkState& LinkTable::between(Machine& from, Machine& to) {
  if (from.number() >= links_.size()) links_.resize(from.number() + 1);
  auto& links = links_[from.number()];
  if (to.number() >= links.size()) links.resize(to.number() + 1);
  auto& link = links[to.number()];
  if (link == nullptr) link = std::make_unique<LinkState>(all_, from, to);
  return *link;
}

}  // namespace fermata::sim::detail
