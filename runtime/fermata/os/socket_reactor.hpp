// SPDX-License-Identifier: Apache-2.0
#pragma once

// What reactors that serve TCP and the offload pool, and nothing more, do alike.

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/os/offload.hpp"
#include "fermata/os/system_reactor.hpp"

namespace fermata::os {

/// `Loop` and `PollsOfLoop` as SystemReactor has them; `StreamsOfLoop`, its TcpStreams.
template <class Loop, class PollsOfLoop, class StreamsOfLoop>
class SocketReactor : public SystemReactor<Loop, PollsOfLoop> {
  using Base = SystemReactor<Loop, PollsOfLoop>;

 public:
  std::vector<std::string> detach() noexcept override {
    this->require_same_process();
    this->signals_.watch_control({});
    std::vector<std::string> leaks = this->loop_.attachment().close_all();
    finish();
    this->loop_.attachment().describe_unclosed(leaks);
    if (offload_.in_flight() > 0) {
      leaks.push_back(
          fmt::format("{} works of the offload pool have not ended at the end of the run",
                      offload_.in_flight()));
    }
    this->loop_.attachment().detach();
    return leaks;
  }

  [[nodiscard]] fermata::backend::Streams& streams() override { return streams_; }
  [[nodiscard]] fermata::backend::Offload& offload() override { return offload_; }

 protected:
  using Base::Base;

 private:
  void deliver_offloaded() override { offload_.deliver(); }

  [[nodiscard]] bool is_unfinished() const noexcept {
    return this->loop_.attachment().unclosed() > 0 || offload_.in_flight() > 0;
  }

  /// Waits for what is still under way.
  void finish() noexcept {
    const Instant deadline = this->now() + Base::kDetachLimit;
    while (is_unfinished() && this->now() < deadline) {
      try {
        this->loop_.wait(backend::TurnMode::Block, deadline);
      } catch (const PollError&) {
        return;  // What is left is reported.
      }
      offload_.deliver();
    }
  }

  StreamsOfLoop streams_{this->loop_, *this};
  Offload offload_{this->loop_.attachment(), *this};
};

}  // namespace fermata::os
