// SPDX-License-Identifier: Apache-2.0
#include "fermata/core/sweep.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/scheduler.hpp"
#include "fermata/core/spawn.hpp"

namespace fermata::detail {

void Sweep::launch(Scheduler& scheduler, ScopeBase& owner, std::string name,
                   std::vector<std::function<void()>> actions) {
  FERMATA_ASSERT(!actions.empty());
  ScopeBase& scope = owner.make_cleanup_scope(name);
  std::make_shared<Sweep>(scheduler, scope, std::move(name), std::move(actions))->start_driver();
}

Sweep::Sweep(Scheduler& scheduler, ScopeBase& scope, std::string name,
             std::vector<std::function<void()>> actions)
    : scheduler_(scheduler), scope_(scope), name_(std::move(name)), actions_(std::move(actions)) {}

bool Sweep::on_switch(CoroutineBase& coroutine, backend::SwitchMoment moment) {
  FERMATA_ASSERT(next_ <= actions_.size());
  const bool driver = coroutine.id() == driver_id_;
  if (moment == backend::SwitchMoment::Leave && driver && next_ < actions_.size()) start_driver();
  return true;
}

void Sweep::start_driver() {
  FERMATA_ASSERT(next_ < actions_.size());
  const auto driver = Ref<CoroutineBase>::adopt(
      make_coroutine(scheduler_.runtime_, Name(name_), SourcePlace::current(),
                     [self = shared_from_this()] { self->drive(); }));
  driver->set(CoroutineBase::kShielded);
  driver->add_switch_handler(shared_from_this());
  scheduler_.enlist(*driver, Priority::High, scope_);
  driver_id_ = driver->id();
  FERMATA_ASSERT(driver_id_ != 0);
  ++drivers_;
}

void Sweep::drive() {
  while (next_ < actions_.size()) {
    const std::function<void()> action = std::move(actions_[next_++]);
    try {
      action();
    } catch (const Cancellation&) {
    } catch (const ForcedUnwind&) {
      throw;
    } catch (...) {
      errors_.push_back(std::current_exception());
    }
  }
  FERMATA_ASSERT(drivers_ > 0);
  if (--drivers_ > 0 || errors_.empty()) return;
  if (errors_.size() == 1) std::rethrow_exception(errors_.front());
  throw CompositeError(std::exchange(errors_, {}));
}

}  // namespace fermata::detail
