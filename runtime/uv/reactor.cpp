// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/uv/reactor.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime/os/clock.hpp"
#include "fermata/runtime/os/signals.hpp"
#include "fermata/runtime/os/triggers.hpp"
#include "fermata/runtime/os/watchdog.hpp"
#include "fermata/runtime/uv/datagrams.hpp"
#include "fermata/runtime/uv/file_watches.hpp"
#include "fermata/runtime/uv/files.hpp"
#include "fermata/runtime/uv/loop.hpp"
#include "fermata/runtime/uv/names.hpp"
#include "fermata/runtime/uv/offload.hpp"
#include "fermata/runtime/uv/polls.hpp"
#include "fermata/runtime/uv/processes.hpp"
#include "fermata/runtime/uv/streams.hpp"
#include "fermata/runtime/uv/threads.hpp"

namespace fermata::uv {

namespace {

/// How long detach() waits for closes, for work on other threads, and for killed processes.
constexpr Duration kDetachLimit = std::chrono::seconds(5);

class UvReactor final : public Reactor {
 public:
  explicit UvReactor(const ReactorOptions& options) : loop_(options.reorder) {
    fermata::detail::ignore_broken_pipes();
  }

  [[nodiscard]] uv_loop_s* native_loop() noexcept { return loop_.get(); }

  [[nodiscard]] std::string_view name() const noexcept override { return "uv"; }

  [[nodiscard]] Instant now() noexcept override { return os::now(); }

  [[nodiscard]] WallTime wall_clock() noexcept override { return os::wall_clock(); }

  void attach(Runtime& runtime) override { loop_.attachment().attach(runtime); }

  std::vector<std::string> detach() noexcept override {
    signals_.watch_control({});
    threads_.quiesce();
    std::vector<std::string> leaks = loop_.attachment().close_all();
    processes_.kill_terminated();
    processes_.look();
    const Instant deadline = now() + kDetachLimit;
    while (unfinished() > 0 && now() < deadline) {
      loop_.wait(TurnMode::Block, deadline);
      processes_.look();
    }
    processes_.end_run();
    describe_unfinished(leaks);
    loop_.attachment().detach();
    return leaks;
  }

  void turn(TurnMode mode, Instant wake_by) override {
    loop_.begin_turn();
    if (mode == TurnMode::Block) wake_by = polls_.check_some(wake_by);
    loop_.wait(mode, wake_by);
    loop_.end_turn();
    triggers_.deliver();
    signals_.deliver_raised();
  }

  void wake() noexcept override { loop_.wake(); }

  void watch_control_signals(std::span<const int> signums) override {
    signals_.watch_control(signums);
  }

  bool linger() override { return threads_.linger(); }
  void shutdown_began() noexcept override { threads_.shut_down(); }

  [[nodiscard]] std::unique_ptr<Watchdog> make_watchdog(Duration limit,
                                                        Watchdog::Report report) override {
    return std::make_unique<os::WatchdogThread>(limit, std::move(report));
  }

  [[nodiscard]] fermata::Polls& polls() override { return polls_; }
  [[nodiscard]] fermata::Signals& signals() override { return signals_; }
  [[nodiscard]] fermata::Triggers& triggers() override { return triggers_; }
  [[nodiscard]] fermata::Streams& streams() override { return streams_; }
  [[nodiscard]] fermata::Datagrams& datagrams() override { return datagrams_; }
  [[nodiscard]] fermata::Files& files() override { return files_; }
  [[nodiscard]] fermata::FileWatches& file_watches() override { return file_watches_; }
  [[nodiscard]] fermata::Names& names() override { return names_; }
  [[nodiscard]] fermata::Threads& threads() override { return threads_; }
  [[nodiscard]] fermata::Processes& processes() override { return processes_; }
  [[nodiscard]] fermata::Offload& offload() override { return offload_; }

 private:
  [[nodiscard]] std::size_t unfinished() noexcept {
    return loop_.attachment().unclosed() + files_.in_flight() + names_.in_flight() +
           offload_.in_flight() + processes_.dying() + (loop_.owes_completions() ? 1 : 0);
  }

  void describe_unfinished(std::vector<std::string>& lines) {
    loop_.attachment().describe_unclosed(lines);
    const auto add = [&](const char* what, std::size_t count) {
      if (count > 0) lines.push_back(fmt::format("{} {} at the end of the run", count, what));
    };
    add("operations on files have not ended", files_.in_flight());
    add("queries of names have not ended", names_.in_flight());
    add("works of the offload pool have not ended", offload_.in_flight());
    add("killed processes have not ended", processes_.dying());
    if (loop_.owes_completions()) lines.emplace_back("completions were held back to the end");
  }

  detail::Loop loop_;
  detail::Streams streams_{loop_};
  detail::Datagrams datagrams_{loop_};
  detail::Polls polls_{loop_};
  os::Signals signals_{loop_.attachment(), *this};
  os::Triggers triggers_{loop_.attachment(), *this};
  detail::Files files_{loop_};
  detail::FileWatches file_watches_{loop_};
  detail::Names names_{loop_};
  detail::Threads threads_{loop_};
  detail::Processes processes_{loop_};
  detail::Offload offload_{loop_};
};

}  // namespace

std::unique_ptr<Reactor> make_reactor(const ReactorOptions& options) {
  return std::make_unique<UvReactor>(options);
}

uv_loop_s* native_loop(Reactor& reactor) noexcept {
  auto* const ours = dynamic_cast<UvReactor*>(&reactor);
  return ours == nullptr ? nullptr : ours->native_loop();
}

}  // namespace fermata::uv
