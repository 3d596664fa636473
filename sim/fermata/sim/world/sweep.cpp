// SPDX-License-Identifier: Apache-2.0

// World::sweep_cancellation.

#include <fmt/format.h>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sim/world/world.hpp"
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
  Sweep(World& world, Runtime& runtime, Interrupter& interrupter) noexcept
      : world_(world), runtime_(runtime), interrupter_(interrupter) {}

  /// Runs the program once; returns whether it came as far as the point.
  bool run(const std::function<void()>& program, Interruption how, std::uint64_t point) {
    FERMATA_ASSERT(point > 0);
    how_ = how;
    point_ = point;
    const auto swept = spawn("swept", program);
    interrupter_.arm(swept->id(), how, point);
    join(*swept);
    cancel_from(swept->id());
    const bool reached = interrupter_.reached();
    count();
    interrupter_.disarm();
    return reached;
  }

  SweepCounts counts;

 private:
  void join(CoroutineBase& coroutine) {
    try {
      wait(coroutine);
    } catch (const Cancellation&) {
    } catch (const Timeout&) {
      if (how_ != Interruption::Timeout) fail(coroutine, std::current_exception());
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      fail(coroutine, std::current_exception());
    }
  }

  // Those that the program has left behind.
  void cancel_from(std::uint64_t first_id) {
    CoroutineBase* each = runtime_.registry().first();
    while (each != nullptr) {
      if (each->id() < first_id) {
        each = each->next_registered();
        continue;
      }
      const auto left = Ref<CoroutineBase>::share(*each);
      left->cancel();
      join(*left);
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

  void fail(const CoroutineBase& coroutine, const std::exception_ptr& error) {
    Failure failure;
    failure.message =
        fmt::format("sweep: '{}' fails when suspension {} is {}: {}", coroutine.label(), point_,
                    to_string(how_), fermata::describe(error));
    failure.coroutine = coroutine.label();
    failure.at = world_.now();
    failure.step = world_.present_step();
    failure.explanation = "interrupted: " + interrupter_.victim();
    world_.fail(std::move(failure));
  }

  World& world_;
  Runtime& runtime_;
  Interrupter& interrupter_;
  Interruption how_ = Interruption::Cancel;
  std::uint64_t point_ = 0;
};

}  // namespace

SweepCounts World::sweep_cancellation(const std::function<void()>& program,
                                      const std::function<void()>& check) {
  detail::NodeState* const node = state_->running_node();
  FERMATA_REQUIRE(node != nullptr && node->runtime().current() != nullptr,
                  "sweep_cancellation: expected a call in a coroutine of this world");
  Sweep sweep(*this, node->runtime(), node->interrupter());
  for (const Interruption how :
       {Interruption::Cancel, Interruption::LateCancel, Interruption::Timeout}) {
    for (std::uint64_t point = 1; sweep.run(program, how, point); ++point) {
      if (check) check();
    }
    if (check) check();
  }
  return sweep.counts;
}

}  // namespace fermata::sim
