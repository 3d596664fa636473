// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "fermata/reactor/offload.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

/// Work on libuv's thread pool, which all loops of the process share.
class Offload final : public fermata::backend::Offload {
 public:
  explicit Offload(Loop& loop) : fermata::backend::Offload(loop.attachment()), loop_(loop) {}

  /// Tasks whose worker has not returned yet.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

 private:
  struct Job;

  void enqueue(backend::Task& task) override;
  bool dequeue(backend::Task& task) noexcept override;

  Loop& loop_;
  std::size_t in_flight_ = 0;
};

}  // namespace fermata::uv::detail
