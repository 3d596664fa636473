// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/threads.hpp"

#include "fermata/core/runtime.hpp"
#include "fermata/sim/world/program.hpp"

namespace fermata::sim::detail {

void SimThreads::launch(const std::shared_ptr<fermata::detail::ThreadLink>& link) {
  program_.begin_thread(link);
}

// What is over ends its threads itself, the youngest first.
void SimThreads::join(const fermata::detail::ThreadLink& link) noexcept {
  try {
    while (link.stage() != ThreadStage::Done) {
      program_.wait(Instant::never());
      program_.agenda().run_due(program_.now());
    }
  } catch (const AbandonRun&) {
  }
}

}  // namespace fermata::sim::detail
