// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/reactor/files.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

/// Files of the system, on libuv's thread pool.
class Files final : public fermata::backend::Files {
 public:
  explicit Files(Loop& loop) : fermata::backend::Files(loop.attachment()), loop_(loop) {}

 private:
  struct Job;
  struct Pause;

  int enqueue(backend::FileOperation& operation) override;
  void withdraw(backend::FileOperation& operation) noexcept override;
  void unlock(int file) noexcept override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
