// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/poll/reactor.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/os/clock.hpp"
#include "fermata/runtime/os/signals.hpp"
#include "fermata/runtime/os/triggers.hpp"
#include "fermata/runtime/os/watchdog.hpp"
#include "fermata/runtime/poll/offload.hpp"
#include "fermata/runtime/poll/polls.hpp"
#include "fermata/runtime/poll/streams.hpp"
#include "fermata/runtime/poll/watches.hpp"

namespace fermata::poll {

namespace {

/// How long detach() waits for work on other threads.
constexpr Duration kDetachLimit = std::chrono::seconds(5);

class PollReactor final : public Reactor {
 public:
  explicit PollReactor(std::unique_ptr<Backend> backend) : watches_(std::move(backend)) {
    fermata::detail::ignore_broken_pipes();
  }

  [[nodiscard]] Backend& backend() noexcept { return watches_.backend(); }

  [[nodiscard]] std::string_view name() const noexcept override {
    return watches_.backend().name();
  }

  [[nodiscard]] Instant now() noexcept override { return os::now(); }
  [[nodiscard]] WallTime wall_clock() noexcept override { return os::wall_clock(); }

  void attach(Runtime& runtime) override { watches_.attachment().attach(runtime); }

  std::vector<std::string> detach() noexcept override {
    signals_.watch_control({});
    std::vector<std::string> leaks = watches_.attachment().close_all();
    wait_for_offload();
    watches_.attachment().describe_unclosed(leaks);
    if (offload_.in_flight() > 0) {
      leaks.push_back(
          fmt::format("{} works of the offload pool have not ended at the end of the run",
                      offload_.in_flight()));
    }
    watches_.attachment().detach();
    return leaks;
  }

  void turn(TurnMode mode, Instant wake_by) override {
    watches_.begin_turn();
    if (mode == TurnMode::Block) wake_by = polls_.check_some(wake_by);
    watches_.wait(mode, wake_by);
    watches_.end_turn();
    offload_.deliver();
    triggers_.deliver();
    signals_.deliver_raised();
  }

  void wake() noexcept override { watches_.wake(); }

  void watch_control_signals(std::span<const int> signums) override {
    signals_.watch_control(signums);
  }

  [[nodiscard]] std::unique_ptr<Watchdog> make_watchdog(Duration limit,
                                                        Watchdog::Report report) override {
    return std::make_unique<os::WatchdogThread>(limit, std::move(report));
  }

  [[nodiscard]] fermata::Polls& polls() override { return polls_; }
  [[nodiscard]] fermata::Signals& signals() override { return signals_; }
  [[nodiscard]] fermata::Triggers& triggers() override { return triggers_; }
  [[nodiscard]] fermata::Streams& streams() override { return streams_; }
  [[nodiscard]] fermata::Offload& offload() override { return offload_; }

 private:
  void wait_for_offload() noexcept {
    const Instant deadline = now() + kDetachLimit;
    while (offload_.in_flight() > 0 && now() < deadline) {
      try {
        watches_.wait(TurnMode::Block, deadline);
      } catch (const PollError&) {
        return;  // What is left is reported.
      }
      offload_.deliver();
    }
  }

  detail::Watches watches_;
  detail::Streams streams_{watches_};
  detail::Polls polls_{watches_};
  os::Signals signals_{watches_.attachment(), *this};
  os::Triggers triggers_{watches_.attachment(), *this};
  detail::Offload offload_{watches_.attachment(), *this};
};

}  // namespace

std::unique_ptr<Reactor> make_reactor(std::unique_ptr<Backend> backend) {
  return std::make_unique<PollReactor>(std::move(backend));
}

void* native_handle(Reactor& reactor) noexcept {
  auto* const ours = dynamic_cast<PollReactor*>(&reactor);
  return ours == nullptr ? nullptr : ours->backend().native_handle();
}

}  // namespace fermata::poll
