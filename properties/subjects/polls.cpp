// SPDX-License-Identifier: Apache-2.0

// A descriptor that several wait at, each for some kinds of readiness.

#include <array>
#include <list>

#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/fake_poll.hpp"

namespace fermata::properties {
namespace {
namespace polls {

constexpr std::array<PollMask, 4> kMasks = {PollMask::Readable, PollMask::Writable,
                                            PollMask::Readable | PollMask::Writable,
                                            PollMask::Readable | PollMask::Disconnect};

class PollSubject final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "wait", does<&PollSubject::wait_for_some>},
        {4, "ready", does<&PollSubject::become_ready>},
        {2, "break", does<&PollSubject::break_off>},
    });
  }

  explicit PollSubject(Stage& on)
      : Subject(on), polls_(current_runtime()), poll_(polls_.open_fake(5)) {}

  void perform(const Operation& operation, const Cue& cue) override {
    check_watched();
    Subject::perform(operation, cue);
  }

  void at_rest() override { check_watched(); }
  void let_go() override {
    check_watched();
    break_off();
    poll_->close();
  }
  void at_end() override {
    if (any(poll_->watched())) stage.complain("POLL-01 (STOP): nobody waits, and it is watched");
  }

 private:
  struct Waiter {
    std::size_t actor;
    PollMask mask;
    PollMask become = PollMask::None;  // What the descriptor has become since it waits.
  };

  void wait_for_some(const Cue& cue) {
    if (poll_->is_closed()) return;
    const PollMask mask = kMasks[(cue.actor + cue.number) % kMasks.size()];
    backend::PollProxy proxy(*poll_, mask);
    const auto me = waiters_.insert(waiters_.end(), {cue.actor, mask});
    struct Leave {
      std::list<Waiter>& waiters;
      std::list<Waiter>::iterator me;
      ~Leave() { waiters.erase(me); }
    } const leave{waiters_, me};
    wait(proxy, cue.patience);
    if (!any(proxy.triggered() & (mask | PollMask::Disconnect))) {
      stage.complain("POLL-02 (ONCE): a waiter was told of what it had not asked for");
    }
    if ((proxy.triggered() & me->become) != proxy.triggered()) {
      stage.complain("POLL-02 (ERR): a waiter was told of " + to_string(proxy.triggered()) +
                     ", and the descriptor has become " + to_string(me->become));
    }
  }

  void become_ready(const Cue& cue) { become(kMasks[cue.number % 3]); }
  void break_off() { become(PollMask::Disconnect); }
  void become(PollMask mask) {
    for (Waiter& waiter : waiters_) waiter.become |= mask;
    poll_->become(mask);
    for (const Waiter& waiter : waiters_) {
      const bool concerned = any(mask & (waiter.mask | PollMask::Disconnect));
      if (concerned && stage.parked(waiter.actor)) {
        stage.complain("POLL-03, POLL-04 (WAKE): the descriptor is ready, and a waiter sleeps on");
      }
    }
  }

  /// At least for what those wait who sleep.
  void check_watched() {
    PollMask wanted = PollMask::None;
    for (const Waiter& waiter : waiters_) {
      if (stage.parked(waiter.actor)) wanted |= waiter.mask;
    }
    if ((poll_->watched() & wanted) != wanted) {
      stage.complain("POLL-01, POLL-04 (STOP): " + to_string(wanted) +
                     " is waited for, and watched is " + to_string(poll_->watched()));
    }
  }

  FakePolls polls_;
  Ref<FakePoll> poll_;
  std::list<Waiter> waiters_;
};

}  // namespace polls
}  // namespace

constinit const Law kPolls = {
    "polls",
    "whoever waits for a descriptor is told when it is ready, and of its end in any case",
    {"G-05", "POLL-01", "POLL-02", "POLL-03", "POLL-04"},
    &scripts_over<polls::PollSubject>};

}  // namespace fermata::properties
