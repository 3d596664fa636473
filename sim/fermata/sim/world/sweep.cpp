// SPDX-License-Identifier: Apache-2.0

// World::sweep_cancellation.

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/world/world.hpp"
#include "fermata/sim/world/world_access.hpp"
#include "fermata/sim/world/world_state.hpp"

namespace fermata::sim {

namespace {

using detail::Interrupter;
using detail::Interruption;

const char* to_string(Interruption how) noexcept {
  switch (how) {
    case Interruption::Cancel:
      return "cancelled";
    case Interruption::LateCancel:
      return "cancelled after its wake";
    case Interruption::Timeout:
      return "timed out";
  }
  return "";
}

class Sweep {
 public:
  Sweep(World& world, Runtime& runtime, Interrupter& interrupter,
        const std::function<void()>& program, const SweepSequel& sequel) noexcept
      : world_(world),
        runtime_(runtime),
        interrupter_(interrupter),
        program_(program),
        sequel_(sequel) {}

  /// Runs the program once, and what follows; returns whether it came as far as the point.
  bool run(Interruption how, std::uint64_t point) {
    FERMATA_ASSERT(point > 0);
    how_ = how;
    point_ = point;
    run_program();
    count();
    if (sequel_.then) run_next();
    if (sequel_.check) sequel_.check();
    return interrupter_.reached();
  }

  SweepCounts counts;

 private:
  /// How a coroutine may end; each way includes those before it.
  enum class Ends : std::uint8_t { Returned, Cancelled, TimedOut };

  void run_program() {
    const auto swept = spawn("swept", program_);
    interrupter_.arm(swept->id(), how_, point_);
    struct Disarm {  // The end of the run, too.
      Interrupter& interrupter;
      ~Disarm() { interrupter.disarm(); }
    } const disarm{interrupter_};
    const Ends ends = how_ == Interruption::Timeout ? Ends::TimedOut : Ends::Cancelled;
    join(*swept, ends);
    cancel_from(swept->id(), ends);
  }

  void run_next() {
    const auto next = spawn("next" + circumstances(" after", "was"), sequel_.then);
    join(*next, Ends::Returned);
    cancel_from(next->id(), Ends::Cancelled);
  }

  void join(CoroutineBase& coroutine, Ends ends) {
    try {
      wait(coroutine);
    } catch (const Cancellation&) {
      if (ends == Ends::Returned) fail(coroutine, std::current_exception());
    } catch (const Timeout&) {
      if (ends != Ends::TimedOut) fail(coroutine, std::current_exception());
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      fail(coroutine, std::current_exception());
    }
  }

  // Those that have been left behind.
  void cancel_from(std::uint64_t first_id, Ends ends) {
    CoroutineBase* each = runtime_.registry().first();
    while (each != nullptr) {
      if (each->id() < first_id) {
        each = each->next_registered();
        continue;
      }
      const auto left = Ref<CoroutineBase>::share(*each);
      left->cancel();
      join(*left, ends);
      each = runtime_.registry().first();
    }
  }

  void count() {
    ++counts.runs;
    if (!interrupter_.fired()) return;
    FERMATA_ASSERT(interrupter_.reached());
    switch (how_) {
      case Interruption::Cancel:
        ++counts.cancellations;
        return;
      case Interruption::LateCancel:
        ++counts.late_cancellations;
        return;
      case Interruption::Timeout:
        ++counts.timeouts;
        return;
    }
  }

  /// " when suspension 3 is cancelled"; empty when nobody was interrupted.
  [[nodiscard]] std::string circumstances(const char* when, const char* is) const {
    if (!interrupter_.fired()) return {};
    return fmt::format("{} suspension {} {} {}", when, point_, is, to_string(how_));
  }

  void fail(const CoroutineBase& coroutine, const std::exception_ptr& error) {
    Failure failure;
    const std::string when = interrupter_.armed() ? circumstances(" when", "is") : std::string();
    failure.message =
        fmt::format("sweep: '{}' fails{}: {}", coroutine.label(), when, fermata::describe(error));
    failure.coroutine = coroutine.label();
    failure.at = world_.now();
    failure.step = detail::WorldAccess(world_).present_step();
    failure.explanation = "interrupted: " + interrupter_.victim();
    world_.fail(std::move(failure));
  }

  World& world_;
  Runtime& runtime_;
  Interrupter& interrupter_;
  const std::function<void()>& program_;
  const SweepSequel& sequel_;
  Interruption how_ = Interruption::Cancel;
  std::uint64_t point_ = 0;
};

}  // namespace

SweepCounts World::sweep_cancellation(const std::function<void()>& program,
                                      const SweepSequel& sequel) {
  detail::NodeState* const node = state_->running_node();
  FERMATA_REQUIRE(node != nullptr && node->runtime().current() != nullptr,
                  "sweep_cancellation: expected a call in a coroutine of this world");
  FERMATA_REQUIRE(!node->interrupter().armed(),
                  "sweep_cancellation: expected a call outside of a program that is swept");
  Sweep sweep(*this, node->runtime(), node->interrupter(), program, sequel);
  for (const Interruption how :
       {Interruption::Cancel, Interruption::LateCancel, Interruption::Timeout}) {
    std::uint64_t point = 1;
    while (sweep.run(how, point)) ++point;
  }
  return sweep.counts;
}

}  // namespace fermata::sim
