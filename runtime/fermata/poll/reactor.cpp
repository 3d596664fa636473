// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/reactor.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/socket_reactor.hpp"
#include "fermata/poll/polls.hpp"
#include "fermata/poll/streams.hpp"
#include "fermata/poll/watches.hpp"

namespace fermata::poll {

namespace {

using SocketReactor = os::SocketReactor<detail::Watches, detail::Polls, detail::Streams>;

class PollReactor final : public SocketReactor {
 public:
  explicit PollReactor(std::unique_ptr<Backend> backend) : SocketReactor(std::move(backend)) {}

  [[nodiscard]] Backend& backend() noexcept { return loop_.backend(); }

  [[nodiscard]] std::string_view name() const noexcept override { return loop_.backend().name(); }

  /// A host wants each of its turns.
  [[nodiscard]] Duration turn_spacing() const noexcept override {
    return loop_.backend().capabilities().hosted ? Duration::zero() : kTurnSpacing;
  }
};

}  // namespace

std::unique_ptr<backend::Reactor> make_reactor(std::unique_ptr<Backend> backend) {
  FERMATA_REQUIRE(backend != nullptr, "make_reactor: expected a backend");
  return std::make_unique<PollReactor>(std::move(backend));
}

void* native_handle(backend::Reactor& reactor) noexcept {
  auto* const ours = dynamic_cast<PollReactor*>(&reactor);
  return ours == nullptr ? nullptr : ours->backend().native_handle();
}

}  // namespace fermata::poll
