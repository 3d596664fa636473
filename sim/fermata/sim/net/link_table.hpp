// SPDX-License-Identifier: Apache-2.0
#pragma once

// The links of a network, each made when it is asked for.

#include <memory>
#include <vector>

#include "fermata/sim/net/link_state.hpp"

namespace fermata::sim::detail {

class LinkTable {
 public:
  /// Of the network whose links are `all`.
  explicit LinkTable(Links& all) noexcept : all_(all) {}

  [[nodiscard]] LinkState& between(Machine& from, Machine& to);

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
