// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/world/world.hpp"
#include "tests/conformance/loop_arm.hpp"

namespace fermata::conformance {

/// A loop in a world without faults, audited in full after every step.
class SimLoopArm final : public LoopArm {
 public:
  void run(const std::function<void()>& body) override;

  void block_for(Duration span) override { sim::consume(span); }
  void raise(int signum) override { node_->signal(signum); }

  [[nodiscard]] bool is_exact() const noexcept override { return true; }

 private:
  sim::Node* node_ = nullptr;
};

}  // namespace fermata::conformance
