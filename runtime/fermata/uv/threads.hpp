// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "fermata/reactor/threads.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

/// Threads of the system, each with a loop of its own.
class Threads final : public fermata::backend::Threads {
 public:
  explicit Threads(Loop& loop) : fermata::backend::Threads(loop.attachment()) {}

  [[nodiscard]] std::size_t processors() const noexcept override;

  using fermata::backend::Threads::linger;
  using fermata::backend::Threads::quiesce;
  using fermata::backend::Threads::shut_down;

 private:
  struct Entry {
    const fermata::detail::ThreadLink* link;
    std::thread thread;
  };

  void launch(const std::shared_ptr<fermata::detail::ThreadLink>& link) override;
  void join(const fermata::detail::ThreadLink& link) noexcept override;

  std::vector<Entry> threads_;
};

}  // namespace fermata::uv::detail
