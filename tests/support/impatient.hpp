// SPDX-License-Identifier: Apache-2.0
#pragma once

// An observer that cuts a run short.

#include "fermata/core/observer.hpp"

namespace fermata::test {

/// Abandons the run after so many steps.
class Impatient final : public Observer {
 public:
  explicit Impatient(int patience) noexcept : Observer(TraceKinds()), left_(patience) {}
  void end_step(Runtime&) override {
    if (--left_ == 0) throw AbandonRun{};
  }

 private:
  void note(Trace, const Event*, std::uint64_t) override {}
  int left_;
};

}  // namespace fermata::test
