// SPDX-License-Identifier: Apache-2.0
#pragma once

// Nothing unusual ever happens: the run that an empty tape describes, whatever the seed.

#include "fermata/sim/tape/strategy.hpp"

namespace fermata::sim {

class CalmStrategy : public Strategy {
 public:
  [[nodiscard]] std::string name() const override { return "calm"; }
  void begin_run(std::uint64_t /*seed*/) override {}
  std::size_t pick(const Candidates& /*candidates*/) override { return 0; }
  std::uint64_t draw(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                     std::uint64_t /*bound*/) override {
    return 0;
  }
  std::uint64_t draw_rarely(backend::RandomStream /*stream*/, std::uint64_t /*key*/,
                            std::uint64_t /*bound*/, Odds /*odds*/) override {
    return 0;
  }
};

}  // namespace fermata::sim
