// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/reactor.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/os/system_reactor.hpp"
#include "fermata/uv/datagrams.hpp"
#include "fermata/uv/file_watches.hpp"
#include "fermata/uv/files.hpp"
#include "fermata/uv/loop.hpp"
#include "fermata/uv/names.hpp"
#include "fermata/uv/offload.hpp"
#include "fermata/uv/polls.hpp"
#include "fermata/uv/processes.hpp"
#include "fermata/uv/streams.hpp"
#include "fermata/uv/threads.hpp"

namespace fermata::uv {

namespace {

class UvReactor final : public os::SystemReactor<detail::Loop, detail::Polls> {
 public:
  explicit UvReactor(const ReactorOptions& options) : SystemReactor(options.reorder) {}

  [[nodiscard]] uv_loop_s* native_loop() noexcept { return loop_.get(); }

  [[nodiscard]] std::string_view name() const noexcept override { return "uv"; }

  std::vector<std::string> detach() noexcept override {
    require_same_process();
    signals_.watch_control({});
    threads_.quiesce();
    FERMATA_ASSERT(threads_.live() == 0);
    std::vector<std::string> leaks = loop_.attachment().close_all();
    processes_.kill_terminated();
    processes_.look();
    const Instant deadline = now() + kDetachLimit;
    while (unfinished() > 0 && now() < deadline) {
      loop_.wait(backend::TurnMode::Block, deadline);
      processes_.look();
    }
    processes_.end_run();
    describe_unfinished(leaks);
    loop_.attachment().detach();
    return leaks;
  }

  [[nodiscard]] Duration turn_spacing() const noexcept override { return kTurnSpacing; }
  bool linger() override { return threads_.linger(); }
  void shutdown_began() noexcept override { threads_.shut_down(); }

  [[nodiscard]] fermata::backend::Streams& streams() override { return streams_; }
  [[nodiscard]] fermata::backend::Datagrams& datagrams() override { return datagrams_; }
  [[nodiscard]] fermata::backend::Files& files() override { return files_; }
  [[nodiscard]] fermata::backend::FileWatches& file_watches() override { return file_watches_; }
  [[nodiscard]] fermata::backend::Names& names() override { return names_; }
  [[nodiscard]] fermata::backend::Threads& threads() override { return threads_; }
  [[nodiscard]] fermata::backend::Processes& processes() override { return processes_; }
  [[nodiscard]] fermata::backend::Offload& offload() override { return offload_; }

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

  detail::Streams streams_{loop_};
  detail::Datagrams datagrams_{loop_};
  detail::Files files_{loop_};
  detail::FileWatches file_watches_{loop_};
  detail::Names names_{loop_};
  detail::Threads threads_{loop_};
  detail::Processes processes_{loop_};
  detail::Offload offload_{loop_};
};

}  // namespace

std::unique_ptr<backend::Reactor> make_reactor(const ReactorOptions& options) {
  return std::make_unique<UvReactor>(options);
}

uv_loop_s* native_loop(backend::Reactor& reactor) noexcept {
  auto* const ours = dynamic_cast<UvReactor*>(&reactor);
  return ours == nullptr ? nullptr : ours->native_loop();
}

}  // namespace fermata::uv
