// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/reactor.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/os/system_reactor.hpp"
#include "fermata/poll/offload.hpp"
#include "fermata/poll/polls.hpp"
#include "fermata/poll/streams.hpp"
#include "fermata/poll/watches.hpp"

namespace fermata::poll {

namespace {

class PollReactor final : public os::SystemReactor<detail::Watches, detail::Polls> {
 public:
  explicit PollReactor(std::unique_ptr<Backend> backend) : SystemReactor(std::move(backend)) {}

  [[nodiscard]] Backend& backend() noexcept { return loop_.backend(); }

  [[nodiscard]] std::string_view name() const noexcept override { return loop_.backend().name(); }

  std::vector<std::string> detach() noexcept override {
    require_same_process();
    signals_.watch_control({});
    std::vector<std::string> leaks = loop_.attachment().close_all();
    wait_for_offload();
    loop_.attachment().describe_unclosed(leaks);
    if (offload_.in_flight() > 0) {
      leaks.push_back(
          fmt::format("{} works of the offload pool have not ended at the end of the run",
                      offload_.in_flight()));
    }
    loop_.attachment().detach();
    return leaks;
  }

  [[nodiscard]] fermata::backend::Streams& streams() override { return streams_; }
  [[nodiscard]] fermata::backend::Offload& offload() override { return offload_; }

 private:
  void deliver_offloaded() override { offload_.deliver(); }

  void wait_for_offload() noexcept {
    const Instant deadline = now() + kDetachLimit;
    while (offload_.in_flight() > 0 && now() < deadline) {
      try {
        loop_.wait(backend::TurnMode::Block, deadline);
      } catch (const PollError&) {
        return;  // What is left is reported.
      }
      offload_.deliver();
    }
  }

  detail::Streams streams_{loop_};
  detail::Offload offload_{loop_.attachment(), *this};
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
