// SPDX-License-Identifier: Apache-2.0
#pragma once

// The links of a network, each made when it is asked for.

#include <memory>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/link_state.hpp"

namespace fermata::sim::detail {

class LinkTable {
 public:
  /// `all` are the links of the network.
  explicit LinkTable(Links& all) noexcept : all_(all) {}

  [[nodiscard]] LinkState& between(Machine& from, Machine& to) {
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

  /// In the order of the machines they come from, then of those they go to.
  template <class F>
  void for_each(F visit) {
    for (const auto& from : links_) {
      for (const auto& link : from) {
        if (link != nullptr) visit(*link);
      }
    }
  }

  void clear() noexcept { links_.clear(); }

 private:
  Links& all_;
  std::vector<std::vector<std::unique_ptr<LinkState>>> links_;  // By the numbers of the machines.
};

}  // namespace fermata::sim::detail
