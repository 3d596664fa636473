// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/core/runtime.hpp"
#include "fermata/reactor/threads.hpp"
#include "fermata/sim/world/program.hpp"

namespace fermata::sim::detail {

/// Threads of a simulated machine: each is a further program of that machine, with a runtime and a
/// clock of its own. They take turns where they may touch what they share (let_threads_in), and
/// where each of them waits.
class SimThreads final : public backend::Threads {
 public:
  SimThreads(fermata::detail::Attachment& attachment, Program& program)
      : backend::Threads(attachment), program_(program) {}

  static constexpr std::size_t kProcessors = 4;
  [[nodiscard]] std::size_t processors() const noexcept override { return kProcessors; }

  using backend::Threads::linger;
  using backend::Threads::quiesce;
  using backend::Threads::shut_down;

 private:
  void launch(const std::shared_ptr<fermata::detail::ThreadLink>& link) override {
    program_.begin_thread(link);
  }
  // What is over ends its threads itself, the youngest first.
  void join(const fermata::detail::ThreadLink& link) noexcept override {
    try {
      while (link.stage() != backend::ThreadStage::Done) {
        program_.wait(Instant::never());
        program_.agenda().run_due(program_.now());
      }
    } catch (const backend::AbandonRun&) {
    }
  }

  Program& program_;
};

}  // namespace fermata::sim::detail
