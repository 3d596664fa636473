// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/unfair.hpp"

#include <fmt/format.h>

namespace fermata::sim {

std::string UnfairStrategy::order_name() const {
  return length_.is_known() ? fmt::format("{}:k={}", plain_name(), length_.longest())
                            : plain_name();
}

void UnfairStrategy::begin_run(std::uint64_t seed) {
  SeededStrategy::begin_run(seed);
  picked_ = 0;
  fair_from_ = length_.suspicious();
  begin();
}

}  // namespace fermata::sim
