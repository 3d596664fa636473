// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observer that cuts a run short.

#include "fermata/core/observer.hpp"

namespace fermata::test {

/// Abandons the run after so many steps.
class Impatient final : public backend::Observer {
 public:
  explicit Impatient(int patience) noexcept
      : backend::Observer(backend::TraceKinds()), left_(patience) {}
  void end_step(Runtime&) override {
    if (--left_ == 0) throw backend::AbandonRun{};
  }

 private:
  void note(backend::Trace, const Event*, std::uint64_t) override {}
  int left_;
};

}  // namespace fermata::test
