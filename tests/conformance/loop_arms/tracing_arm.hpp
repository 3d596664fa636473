// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/loop/tracing.hpp"
#include "tests/conformance/loop_arms/reactor_arm.hpp"

namespace fermata::conformance {

/// A loop on ppoll that remembers what it is told.
class TracingArm final : public ReactorArm {
 public:
  TracingArm() : ReactorArm("select", {.tracer = &tracing_}) {}

 private:
  loop::Tracing tracing_{100};
};

}  // namespace fermata::conformance
