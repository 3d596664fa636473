// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/reactor/threads.hpp"

namespace fermata::sim::detail {

class Program;

/// Threads of a simulated machine: each is a further program of that machine, with a runtime and a
/// clock of its own. They take turns where they may touch what they share (let_threads_in), and
/// where each of them waits.
class SimThreads final : public Threads {
 public:
  SimThreads(fermata::detail::Attachment& attachment, Program& program)
      : Threads(attachment), program_(program) {}

  static constexpr std::size_t kProcessors = 4;
  [[nodiscard]] std::size_t processors() const noexcept override { return kProcessors; }

  using Threads::linger;
  using Threads::quiesce;
  using Threads::shut_down;

 private:
  void launch(const std::shared_ptr<fermata::detail::ThreadLink>& link) override;
  void join(const fermata::detail::ThreadLink& link) noexcept override;

  Program& program_;
};

}  // namespace fermata::sim::detail
