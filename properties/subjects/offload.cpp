// SPDX-License-Identifier: Apache-2.0

// Work on other threads, by several actors at once; and such as several listen to, whose owner lets
// go of it as soon as it has ended.

#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace offloaded {

/// More than all work of a script takes, one after the other.
constexpr Duration kLongest = std::chrono::seconds(10);

/// What a piece of work has captured.
struct Work {
  std::size_t number;
  unsigned runs = 0;
};

class Failing final : public fermata::backend::Task {
 public:
  explicit Failing(std::size_t number)
      : backend::Task(current_runtime().reactor().offload()), number_(number) {}
  [[nodiscard]] std::size_t number() const noexcept { return number_; }

 private:
  void work() override { throw PlannedError(static_cast<std::uint32_t>(number_)); }
  void* result_address() noexcept override { return nullptr; }

  std::size_t number_;
};

/// Its owner; told before all others who listen.
class Owner {
 public:
  explicit Owner(std::size_t number)
      : task_(Ref<Failing>::adopt(*new Failing(number))),
        end_(subscribe(*task_, [this](Event&, const Outcome&) { task_.reset(); })) {
    task_->start();
  }

  /// Null when it has ended.
  [[nodiscard]] Failing* task() const noexcept { return task_.get(); }

 private:
  Ref<Failing> task_;
  Subscription end_;
};

class Offloads final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "compute", does<&Offloads::carry_out, false>},
        {3, "fail", does<&Offloads::carry_out, true>},
        {4, "share", does<&Offloads::share>},
    });
  }

  using Subject::Subject;

  void at_rest() override {
    for (std::size_t actor = 0; actor < stage.actor_count(); ++actor) {
      if (stage.parked(actor)) stage.complain("THR-02 (WAKE): somebody waits for work still");
    }
    for (const std::weak_ptr<Work>& work : works_) {
      if (!work.expired()) stage.complain("THR-01 (REF): what work had captured is still there");
    }
  }

 private:
  void carry_out(const Cue& cue, bool fails) {
    const auto work = std::make_shared<Work>(Work{works_.size()});
    works_.push_back(work);
    const Instant start = now();
    try {
      const std::size_t result = offload(
          [this, work = work, fails] {
            if (work == nullptr) {
              stage.complain("THR-01 (UAF): what work has captured went with its waiter");
              return std::size_t{0};
            }
            ++work->runs;
            if (fails) throw PlannedError(static_cast<std::uint32_t>(work->number));
            return work->number;
          },
          cue.patience);
      if (fails) stage.complain("THR-02 (ERR): the work has failed, and nobody was told");
      if (result != work->number) stage.complain("THR-02 (VAL): the result is another work's");
    } catch (const PlannedError& error) {
      if (!fails || error.number != work->number) {
        stage.complain("THR-02 (ERR): the error is another work's");
      }
    }
    if (now() > start + kLongest && !stage.struck(sim::Fault::Pause)) {
      stage.complain("THR-02 (TIME): somebody waited far longer than all work takes together");
    }
    if (work->runs != 1) stage.complain("THR-02 (ONCE): work has ended that did not run once");
  }

  void share() {
    if (!owner_ || owner_->task() == nullptr) owner_ = std::make_shared<Owner>(++shared_);
    const auto owner = owner_;
    const std::size_t number = owner->task()->number();
    std::exception_ptr heard;
    const Subscription listener =
        subscribe(*owner->task(), [&](Event&, const Outcome& outcome) { heard = outcome.error; });
    while (owner->task() != nullptr) delay(std::chrono::milliseconds(1));
    try {
      if (heard) std::rethrow_exception(heard);
      stage.complain("CORE-CB-01 (ERR): shared work has failed, and not all who listen were told");
    } catch (const PlannedError& error) {
      if (error.number != number) stage.complain("THR-02 (ERR): the error is another work's");
    }
  }

  std::vector<std::weak_ptr<Work>> works_;
  std::shared_ptr<Owner> owner_;
  std::size_t shared_ = 0;
};

}  // namespace offloaded
}  // namespace

constinit const Law kOffload = {
    "offload",
    "work runs once, is told once to whoever still waits, and leaves nothing behind",
    {"G-05", "THR-01", "THR-02"},
    &scripts_over<offloaded::Offloads>};

}  // namespace fermata::properties
