// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/base/function_ref.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/drivers/factory.hpp"
#include "tests/conformance/loop_arms/real_arm.hpp"

namespace fermata::conformance {

/// A loop on the reactor of a driver.
class ReactorArm : public RealArm {
 public:
  explicit ReactorArm(std::string_view driver, loop::LoopOptions options = {})
      : driver_(driver), options_(options) {}

  void run(detail::FunctionRef<void()> body) override {
    Runtime runtime(loop::make_reactor(driver_), {.handle_stop_signals = false});
    runtime.run([&] { with_loop(options_, body); });
  }

 private:
  std::string_view driver_;
  loop::LoopOptions options_;
};

}  // namespace fermata::conformance
