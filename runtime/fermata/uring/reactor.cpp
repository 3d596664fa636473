// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/reactor.hpp"

#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/os/socket_reactor.hpp"
#include "fermata/uring/polls.hpp"
#include "fermata/uring/refusal.hpp"
#include "fermata/uring/streams.hpp"

namespace fermata::uring {

namespace {

using SocketReactor = os::SocketReactor<detail::Loop, detail::Polls, detail::Streams>;

class UringReactor final : public SocketReactor {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "uring"; }
  [[nodiscard]] Duration turn_spacing() const noexcept override { return kTurnSpacing; }

  void attach(Runtime& runtime) override {
    loop_.open();
    SocketReactor::attach(runtime);
  }

  std::vector<std::string> detach() noexcept override {
    std::vector<std::string> leaks = SocketReactor::detach();
    loop_.close();
    return leaks;
  }
};

}  // namespace

std::string refusal() {
  try {
    detail::require_available();
    return {};
  } catch (const InputOutputError& error) {
    return error.what();
  }
}

std::unique_ptr<backend::Reactor> make_reactor() { return std::make_unique<UringReactor>(); }

}  // namespace fermata::uring
