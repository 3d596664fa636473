// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <thread>

#include "tests/conformance/loop_arm.hpp"

namespace fermata::conformance {

/// The system's clock and signals.
class RealArm : public LoopArm {
 public:
  void block_for(Duration span) override { std::this_thread::sleep_for(span); }
  void raise(int signum) override { std::raise(signum); }
};

}  // namespace fermata::conformance
