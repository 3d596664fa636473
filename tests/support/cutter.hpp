// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts a run in its middle, so that every coroutine is unwound by force.

#include <functional>
#include <string>

#include "fermata/core/observer.hpp"
#include "fermata/core/scheduler.hpp"

namespace fermata::test {

/// Cuts the run at the end of the first step after which `when` holds.
class Cutter final : public backend::Observer {
 public:
  Cutter() noexcept : backend::Observer(backend::TraceKinds()) {}
  void end_step(Runtime&) override {
    if (when && when()) throw backend::AbandonRun{};
  }
  [[nodiscard]] std::string why() const override { return "the test"; }
  std::function<bool()> when;

 private:
  void note(backend::Trace, const Event*, std::uint64_t) override {}
};

}  // namespace fermata::test
