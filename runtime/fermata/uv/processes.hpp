// SPDX-License-Identifier: Apache-2.0
#pragma once

// Processes of the operating system. Not libuv's: uv_spawn takes SIGCHLD for itself, over whatever
// handler there is, and leaves the default disposition behind (SIG-01, SIG-04).

#include "fermata/reactor/processes.hpp"
#include "fermata/uv/loop.hpp"

namespace fermata::uv::detail {

class Processes final : public fermata::backend::Processes {
 public:
  explicit Processes(Loop& loop) : fermata::backend::Processes(loop.attachment()), loop_(loop) {}

 private:
  Started start(const ProcessOptions& options) override;
  std::optional<ProcessExit> collect(int pid) noexcept override;
  int send(int pid, int signum) override;

  Loop& loop_;
};

}  // namespace fermata::uv::detail
