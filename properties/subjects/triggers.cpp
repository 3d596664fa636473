// SPDX-License-Identifier: Apache-2.0

// A box that threads put things into, and a trigger that tells the main thread to look.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "fermata/io/thread_lock.hpp"
#include "fermata/io/trigger.hpp"
#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/elsewhere.hpp"
#include "properties/subjects/listed.hpp"

namespace fermata::properties {
namespace {
namespace triggers {

/// What the threads share.
struct Box {
  std::mutex mutex;
  Trigger* trigger = nullptr;  // Null while there is none.
  std::size_t things = 0;
  std::uint64_t fires = 0;  // Of this trigger.

  void put() {
    const auto held = lock_among_threads(mutex);
    ++things;
    if (trigger == nullptr) return;
    ++fires;
    trigger->fire();
  }
};

class Triggers final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {3, "put", does<&Triggers::put>},
        {10, "put from a thread", does<&Triggers::put_elsewhere>},
        {10, "collect", does<&Triggers::collect>},
        {1, "replace the trigger", does<&Triggers::replace>},
    });
  }

  explicit Triggers(Stage& on) : Subject(on) { make(); }
  ~Triggers() override { take_away(); }

  void at_rest() override {
    if (told_ != box_->fires) stage.complain("THR-03 (WAKE): a fire was never told");
    if (box_->things > 0 && collectors_ > 0) {
      stage.complain("THR-03 (WAKE): somebody waits for a trigger, and the box is not empty");
    }
  }

  void let_go() override {
    ending_ = true;
    box_->put();
  }

  void at_end() override { at_rest(); }

 private:
  void make() {
    const std::size_t active = current_runtime().active_event_count();
    trigger_ = std::make_unique<Trigger>();
    if (current_runtime().active_event_count() != active) {
      stage.complain("THR-04 (SHUT): a trigger that nobody waits for keeps the loop alive");
    }
    telling_ = subscribe(trigger_->handle(), [this](Event&, const Outcome&) { told(); });
    const auto held = lock_among_threads(box_->mutex);
    box_->trigger = trigger_.get();
    box_->things = 0;
    box_->fires = 0;
    told_ = 0;
    remembered_ = false;
  }
  void take_away() {
    {
      const auto held = lock_among_threads(box_->mutex);
      box_->trigger = nullptr;
    }
    trigger_.reset();
  }

  void put() { box_->put(); }
  void put_elsewhere(const Cue& cue) {
    elsewhere([box = box_, times = 1 + cue.number % 4] {
      for (int i = 0; i < times; ++i) {
        box->put();
        if (i % 2 == 1) delay(std::chrono::microseconds(times));
      }
    });
  }
  void replace() {
    if (collectors_ > 0) return;
    take_away();
    make();
  }

  void told() {
    if (told_ == box_->fires) stage.complain("THR-03 (ONCE): a trigger tells what nobody fired");
    told_ = box_->fires;
    remembered_ = true;
  }

  void collect(const Cue& cue) {
    if (ending_) return;
    const Counted counted(collectors_);
    call(
        cue, remembered_ ? Due::Now : Due::Later, [&] { trigger_->wait(cue.patience); },
        [&](const Ending& end) {
          if (end.returned()) remembered_ = false;
        });
    const auto held = lock_among_threads(box_->mutex);
    box_->things = 0;
  }

  std::shared_ptr<Box> box_ = std::make_shared<Box>();
  std::unique_ptr<Trigger> trigger_;
  Subscription telling_;
  std::uint64_t told_ = 0;   // How many fires there had been when it told last.
  bool remembered_ = false;  // It has told since somebody's wait for it has returned.
  std::size_t collectors_ = 0;
  bool ending_ = false;
};

}  // namespace triggers
}  // namespace

constinit const Law kTriggers = {"triggers",
                                 "whoever looks when a trigger tells misses nothing that was put",
                                 {"THR-03", "THR-04"},
                                 &scripts_over<triggers::Triggers>};

}  // namespace fermata::properties
