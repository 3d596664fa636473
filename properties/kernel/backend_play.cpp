// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/backend_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "properties/kernel/events.hpp"
#include "tests/support/fake_kernel.hpp"

namespace fermata::properties {

namespace {

constexpr std::size_t kNumbersMax = 8;
/// Looks in which whatever is ready must be told.
constexpr int kLooks = 4;

class BackendPlay final : private poll::Sink {
 public:
  BackendPlay(const PlayedBackend& played, const BackendScript& script)
      : script_(script),
        kernel_(script.answers,
                {.nanoseconds = played.nanoseconds, .spurious = EPOLLIN | EPOLLOUT | EPOLLPRI}),
        backend_(poll::make_backend(played.kind)),
        unit_(played.nanoseconds ? Duration(0) : std::chrono::milliseconds(1)) {}

  std::string run() {
    for (const BackendAct& act : script_.acts) {
      if (!complaint_.empty()) return complaint_;
      act.verb == BackendVerb::Wait ? wait(std::chrono::milliseconds(act.which)) : perform(act);
    }
    kernel_.answers().be_calm();
    inside_ = script_.inside.size();
    if (complaint_.empty()) tell_all();
    if (complaint_.empty()) rest();
    return complaint_;
  }

 private:
  /// What is watched, as the caller knows it.
  struct Watched {
    PollMask mask;
    std::uint64_t identity;  // The file that the number meant.
    std::size_t since;       // The wait during which it was begun; 0 for none.
    bool lost = false;       // It meant another file, or none, at some wait.
  };

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  [[nodiscard]] std::uint64_t identity(int number) const {
    const auto file = kernel_.file(number);
    return file != nullptr ? file->identity : 0;
  }
  [[nodiscard]] bool is_alive(int number, const Watched& watched) const {
    return !watched.lost && identity(number) == watched.identity;
  }

  void perform(const BackendAct& act) {
    if (act.verb == BackendVerb::Open) return open();
    if (numbers_.empty()) return;
    const int number = numbers_[act.which % numbers_.size()];
    switch (act.verb) {
      case BackendVerb::Duplicate:
        return duplicate(number);
      case BackendVerb::Watch:
        return watch(number, act.mask);
      case BackendVerb::Unwatch:
        return unwatch(number);
      case BackendVerb::End:
        unwatch(number);
        return close(number);
      case BackendVerb::Replace:
        unwatch(number);
        close(number);
        open();
        return watch(numbers_.back(), act.mask);
      case BackendVerb::Close:
        return close(number);
      case BackendVerb::Abandon:
        duplicate(number);
        close(number);
        return unwatch(number);
      case BackendVerb::Ready:
        return kernel_.set_ready(number, events_of(act.mask));
      default:
        return;
    }
  }

  void open() {
    if (numbers_.size() < kNumbersMax) numbers_.push_back(kernel_.open());
  }

  void duplicate(int number) {
    if (numbers_.size() < kNumbersMax) numbers_.push_back(kernel_.duplicate(number));
  }

  void close(int number) {
    kernel_.close(number);
    std::erase(numbers_, number);
  }

  void watch(int number, PollMask mask) {
    mask = mask & backend_->capabilities().kinds;
    if (!any(mask)) mask = PollMask::Readable;
    const auto known = watched_.find(number);
    const bool taken_over = known != watched_.end() && !is_alive(number, known->second);
    try {
      backend_->watch(number, mask);
    } catch (const PollError& error) {
      watched_.erase(number);
      if (!taken_over) complain(fmt::format("{} cannot be watched: {}", number, error.what()));
      return;
    }
    if (known != watched_.end() && !taken_over) {
      known->second.mask = mask;
    } else {
      // One that takes over what was closed behind the backend's back may be told what that had.
      watched_[number] = {mask, identity(number), looking_ && !taken_over ? waits_ : 0};
    }
  }

  void unwatch(int number) {
    backend_->unwatch(number);
    watched_.erase(number);
  }

  void wait(Duration time) {
    ++waits_;
    told_.clear();
    find_lost();
    const auto before = watched_;
    const std::size_t kernels = kernel_.waits();
    const Instant begin = kernel_.now();
    looking_ = true;
    backend_->wait(begin + time, *this);
    looking_ = false;
    find_lost();
    if (kernel_.now() > begin + time + unit_) {
      complain(fmt::format("a wait for {} ns took {} ns", time.count(),
                           (kernel_.now() - begin).count()));
    }
    if (kernel_.waits() != kernels) check_asked(before);
  }

  void find_lost() {
    for (auto& [number, watched] : watched_) watched.lost = !is_alive(number, watched);
  }

  void check_asked(const std::map<int, Watched>& before) {
    for (const auto& [number, watched] : before) {
      const auto asked = kernel_.asked().find(number);
      const std::uint32_t got = asked != kernel_.asked().end() ? asked->second : 0;
      if (!is_alive(number, watched)) continue;
      if ((events_of(watched.mask) & ~got) == 0) continue;
      complain(fmt::format("{} was watched for {}, and the kernel was asked for {}", number,
                           to_string(watched.mask), to_string(mask_of(got))));
    }
  }

  void ready(int number, PollMask mask) noexcept override {
    const auto watched = watched_.find(number);
    if (watched == watched_.end()) {
      return complain(fmt::format("{} was told and not watched", number));
    }
    if (watched->second.since == waits_ && is_alive(number, watched->second)) {
      complain(fmt::format("{} was told what was found before it was watched", number));
    }
    told_[number] |= mask;
    if (inside_ < script_.inside.size()) perform(script_.inside[inside_++]);
  }

  /// Looks until nothing more can be hidden behind a batch.
  void tell_all() {
    std::map<int, PollMask> told;
    for (int i = 0; i < kLooks; ++i) {
      wait(Duration(0));
      for (const auto& [number, mask] : told_) told[number] |= mask;
    }
    for (const auto& [number, watched] : watched_) {
      if (!is_alive(number, watched)) continue;
      const std::uint32_t holds = kernel_.ready_of(*kernel_.file(number));
      const PollMask missing = mask_of(events_of(watched.mask) & holds & ~events_of(told[number]));
      if (!any(missing)) continue;
      complain(fmt::format("{} is ready for {}, which is not told", number, to_string(missing)));
    }
  }

  /// What is watched is ready for nothing; whatever else is ready must not end waits.
  void rest() {
    std::vector<int> gone;
    for (const auto& [number, watched] : watched_) {
      if (is_alive(number, watched)) {
        kernel_.set_ready(number, 0);
      } else {
        gone.push_back(number);
      }
    }
    for (const int number : gone) unwatch(number);
    constexpr auto kTime = std::chrono::milliseconds(1);
    for (int i = 0; i < kLooks; ++i) wait(kTime);
    const Instant begin = kernel_.now();
    wait(kTime);
    if (kernel_.now() < begin + kTime) complain("a wait ended early, again and again");
    if (!told_.empty()) complain("something was told that is not ready");
  }

  const BackendScript& script_;
  test::FakeKernel kernel_;
  std::unique_ptr<poll::Backend> backend_;
  Duration unit_;
  std::vector<int> numbers_;  // Open.
  std::map<int, Watched> watched_;
  std::map<int, PollMask> told_;  // In the last wait.
  std::size_t inside_ = 0;
  std::size_t waits_ = 0;
  bool looking_ = false;
  std::string complaint_;
};

}  // namespace

std::string play(const PlayedBackend& played, const BackendScript& script) {
  return BackendPlay(played, script).run();
}

}  // namespace fermata::properties
