// SPDX-License-Identifier: Apache-2.0
#pragma once

// Production's order of coroutines; only the outside world varies.

#include "fermata/sim/strategy/seeded.hpp"

namespace fermata::sim {

class FifoStrategy final : public SeededStrategy {
 public:
  std::size_t pick(const Candidates& /*candidates*/) override { return 0; }

 private:
  [[nodiscard]] std::string order_name() const override { return "fifo"; }
};

}  // namespace fermata::sim
