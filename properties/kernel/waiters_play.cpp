// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/waiters_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/poll/reactor.hpp"
#include "fermata/runtime.hpp"
#include "properties/kernel/events.hpp"
#include "tests/support/fake_kernel.hpp"

namespace fermata::properties {

namespace {

using namespace std::chrono_literals;

/// Not a whole number of milliseconds, nor of their halves.
constexpr Duration kUnit = 300us;

class WaitersPlay {
 public:
  WaitersPlay(const PlayedBackend& played, const WaitersScript& script)
      : script_(script),
        kernel_(script.answers, {.nanoseconds = played.nanoseconds, .waits_max = kWaitsMax}),
        late_(played.nanoseconds ? 0ns : 1ms) {
    for (File& each : files_) each.number = kernel_.open();
    begin_ = kernel_.now();
    kernel_.on_found = [this](int number) { replace_early(number); };
    for (const FileEvent& event : script.events) plan(event);
    Runtime runtime(poll::make_reactor(poll::make_backend(played.kind)), options());
    try {
      runtime.run([this] { run_all(); });
    } catch (const std::exception& error) {
      complain(fmt::format("the run has failed: {}", error.what()));
    }
  }

  std::string complaint() {
    if (kernel_.lost_patience()) return "the kernel was asked again and again, or forever";
    const std::size_t reasons =
        10 + kernel_.answers().uncalm() + 2 * script_.events.size() + 6 * script_.waiters.size();
    const auto checks = static_cast<std::size_t>((kernel_.now() - begin_) / 10ms);
    if (complaint_.empty() && kernel_.waits() > 2 * (reasons + checks)) {
      complain(fmt::format("{} waits, {} reasons to wait", kernel_.waits(), reasons + checks));
    }
    return complaint_;
  }

 private:
  static constexpr std::size_t kWaitsMax = 20'000;

  struct File {
    int number = -1;  // Valid while it owns the descriptor.
    /// When it became ready.
    Instant readable = Instant::never();
    Instant writable = Instant::never();
    Instant gone = Instant::never();  // It was closed, and its number is another's.
  };

  static RuntimeOptions options() {
    RuntimeOptions options;
    options.handle_stop_signals = false;
    options.log = [](std::string_view) {};
    return options;
  }

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  void plan(const FileEvent& event) {
    const Instant when = begin_ + event.at * kUnit;
    File& file = files_[event.file];
    if (any(event.mask)) {
      Instant& since = any(event.mask & PollMask::Readable) ? file.readable : file.writable;
      since = std::min(since, when);
    }
    kernel_.at(when, [this, &file, event] { happen(file, event.mask); });
  }

  void happen(File& file, PollMask mask) {
    if (file.number < 0) return;
    if (!any(mask)) return replace(file);
    kernel_.set_ready(file.number, kernel_.file(file.number)->ready | events_of(mask));
  }

  /// What has its number now is ready for all that nobody waits for.
  void replace(File& file) {
    file.gone = kernel_.now();
    kernel_.close(std::exchange(file.number, -1));
    kernel_.set_ready(kernel_.open(), EPOLLIN | EPOLLOUT);
  }

  /// Between what the kernel finds and its answer. Other files have their turn when they are found:
  /// who waits for one may have been told already, rightly, and not run yet.
  void replace_early(int number) {
    if (!kernel_.answers().once_in(16)) return;
    const auto found = std::find_if(files_.begin(), files_.end(),
                                    [&](const File& each) { return each.number == number; });
    if (found != files_.end()) replace(*found);
  }

  void run_all() {
    std::vector<Coroutine<>> all;
    for (const Waiting& waiting : script_.waiters) {
      all.push_back(spawn("waiter", [this, &waiting] { wait_as(waiting); }));
    }
    when_all_settled(all);
  }

  void wait_as(const Waiting& waiting) {
    delay(waiting.begin * kUnit);
    const File& file = files_[waiting.file];
    const Instant begin = kernel_.now();
    if (file.number < 0) return;
    PollMask got = PollMask::None;
    try {
      got = Descriptor(file.number).wait(waiting.mask, {.timeout = waiting.patience * kUnit});
    } catch (const Timeout&) {
    } catch (const PollError&) {
      got = PollMask::Disconnect;
    }
    judge(waiting, begin, got);
  }

  void judge(const Waiting& waiting, Instant begin, PollMask got) {
    const File& file = files_[waiting.file];
    const Instant end = begin + waiting.patience * kUnit;
    const Instant now = kernel_.now();
    Instant due = Instant::never();
    if (any(waiting.mask & PollMask::Readable)) due = std::min(due, file.readable);
    if (any(waiting.mask & PollMask::Writable)) due = std::min(due, file.writable);
    due = std::max(due, begin);
    const std::string who =
        fmt::format("who waited for {} of file {} from {} us for {} us", to_string(waiting.mask),
                    waiting.file, since(begin), (end - begin) / 1us);
    if (now > end + late_) return complain(fmt::format("{}: back at {} us", who, since(now)));
    if (any(got & PollMask::Disconnect)) {
      if (file.number >= 0) complain(fmt::format("{}: told of the end of what goes on", who));
      return;
    }
    if (file.number < 0) {
      if (any(got)) complain(fmt::format("{}: told what another file is ready for", who));
      return;
    }
    if (!any(got)) {
      if (now < end) complain(fmt::format("{}: out of patience at {} us", who, since(now)));
      if (due < end)
        complain(fmt::format("{}: not told of what holds since {} us", who, since(due)));
      return;
    }
    const bool reads = any(got & PollMask::Readable);
    const bool writes = any(got & PollMask::Writable);
    if (reads && now < file.readable)
      complain(fmt::format("{}: told READABLE, which is wrong", who));
    if (writes && now < file.writable)
      complain(fmt::format("{}: told WRITABLE, which is wrong", who));
    if (now > due + late_) complain(fmt::format("{}: told {} us late", who, (now - due) / 1us));
  }

  [[nodiscard]] std::int64_t since(Instant at) const { return (at - begin_) / 1us; }

  const WaitersScript& script_;
  test::FakeKernel kernel_;
  Duration late_;
  Instant begin_;
  std::array<File, kWaitedFiles> files_;
  std::string complaint_;
};

}  // namespace

std::string play(const PlayedBackend& played, const WaitersScript& script) {
  return WaitersPlay(played, script).complaint();
}

}  // namespace fermata::properties
