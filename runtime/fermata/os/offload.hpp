// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/offload.hpp"

namespace fermata::os {

/// Work on the pool that all reactors of the process share.
class Offload final : public fermata::backend::Offload {
 public:
  Offload(fermata::detail::Attachment& attachment, backend::Reactor& reactor);
  /// Work that still runs goes on, and its result is dropped.
  ~Offload() override;

  /// Tells the ends of tasks. Inside a turn.
  void deliver();
  /// Tasks whose worker has not returned yet.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 private:
  class Job;
  struct Ended;

  void enqueue(backend::Task& task) override;
  bool dequeue(backend::Task& task) noexcept override;

  std::shared_ptr<Ended> ended_;  // Workers have it too.
  std::size_t in_flight_ = 0;
};

}  // namespace fermata::os
