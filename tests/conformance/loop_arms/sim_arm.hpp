// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/function_ref.hpp"
#include "fermata/sim/world/world.hpp"
#include "tests/conformance/loop_arm.hpp"

namespace fermata::conformance {

/// A loop in a world without faults, audited in full after every step.
class SimLoopArm : public LoopArm {
 public:
  void run(detail::FunctionRef<void()> body) override { run_in_world(0, {}, body); }

  void block_for(Duration span) override { sim::consume(span); }
  void raise(int signum) override { node_->signal(signum); }

  [[nodiscard]] bool is_exact() const noexcept override { return true; }

 protected:
  /// `seed` decides whatever is drawn.
  void run_in_world(std::uint64_t seed, const loop::LoopOptions& options,
                    detail::FunctionRef<void()> body);

 private:
  sim::Node* node_ = nullptr;
};

}  // namespace fermata::conformance
