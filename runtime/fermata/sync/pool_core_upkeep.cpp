// SPDX-License-Identifier: Apache-2.0

// What keeps a pool as it should be: its first resources, the health check, the close.

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sync/pool_claim.hpp"
#include "fermata/sync/pool_core.hpp"

namespace fermata::detail {

void PoolCore::open() {
  std::exception_ptr error;
  while (settings_.filled_at_once && !error && total() < settings_.min) error = refill();
  if (!error) return watch_health();
  begin_close();
  std::rethrow_exception(both(error, sweep()));
}

// One more idle resource. Returns what went wrong.
std::exception_ptr PoolCore::refill() {
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(total() < settings_.min);
  ++active_;
  const Claim claim(*this);
  return error_of([&] {
    PoolSlot* const slot = create(0);
    if (slot == nullptr) throw about(PoolError(kNothingMade));
    is_closed() ? destroy_shielded(*slot, nullptr) : push_idle(*slot);
  });
}

void PoolCore::watch_health() {
  FERMATA_ASSERT(!clock_.has_value());
  if (settings_.health_check_interval == Duration::zero()) return;
  clock_.emplace(runtime(), settings_.health_check_interval, TimerMode::Periodic);
  clock_->set_hidden(true);  // It neither keeps the loop alive nor hides a deadlock (POOL-15).
  ticks_ = subscribe(*clock_, [this](Event&, const Outcome&) { start_check(); });
  clock_->start();
}

// A tick while the check before it still runs is skipped.
void PoolCore::start_check() {
  if (is_closed() || (check_ && !check_->is_completed())) return;
  SpawnOptions options;
  options.name = Name((name_.empty() ? "pool" : std::string(name_.view())) + ".health_check");
  options.place = place_;
  options.scope = &runtime().root_scope();
  check_ = spawn_in(runtime(), std::move(options),
                    [pin = Ref<PoolCore>::share(*this)] { pin->check_health(); });
}

void PoolCore::check_health() {
  const std::uint64_t end = next_turn_;
  const auto is_due = [&] {
    const bool surplus = idle_.size() > line_.granted();  // The rest is promised (POOL-14).
    return has(Hook::HealthCheck) && !is_closed() && surplus && idle_.first()->turn_ < end;
  };
  while (is_due()) check_oldest();
  while (!is_closed() && total() < settings_.min && free_places() > 0) {
    const std::exception_ptr error = refill();
    if (is_stop(error)) std::rethrow_exception(error);
    if (!error) continue;
    log("The health check could not make a resource", error);
    break;
  }
  wake_waiters();
}

void PoolCore::check_oldest() {
  FERMATA_ASSERT(!idle_.empty());
  FERMATA_ASSERT(active_ < settings_.max);
  PoolSlot& slot = take_idle();  // Nobody else gets it from here on.
  ++active_;
  const Claim claim(*this);
  const Verdict verdict = consult(Hook::HealthCheck, slot);
  if (verdict.accepted && !is_closed()) return push_idle(slot);
  const std::exception_ptr error =
      error_of([&] { destroy_shielded(slot, verdict.stop ? verdict.error : nullptr); });
  if (is_stop(error)) std::rethrow_exception(error);
  if (error) log("The health check could not destroy a resource", error);
}

void PoolCore::close_pool(const SourcePlace& place) {
  if (is_closed()) return;
  closed_at_ = place;
  const bool in_flight = std::uncaught_exceptions() > 0;
  const auto pin = Ref<PoolCore>::share(*this);
  begin_close();
  const std::exception_ptr error = sweep();
  if (!error) return;
  if (!in_flight) std::rethrow_exception(error);
  log("An error while the pool was closed", error);
}

void PoolCore::close_quietly() noexcept {
  if (is_closed()) return;
  const auto pin = Ref<PoolCore>::share(*this);
  begin_close();
  if (doomed_.empty()) return;
  if (has(Hook::Destructor)) return end_in_background(nullptr);
  if (const std::exception_ptr error = sweep()) log("An error while the pool was closed", error);
}

// The doomed count as active until they are destroyed.
void PoolCore::begin_close() {
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(doomed_.empty());
  outcome_.error = std::make_exception_ptr(about(PoolError(kPoolIsClosed)));
  close();
  detours_ |= kClosed;
  ticks_.cancel();
  if (clock_) clock_->close();
  line_.fail_all(outcome_.error, true);
  FERMATA_ASSERT(line_.empty());
  while (!idle_.empty()) {
    doomed_.push_back(take_idle());
    ++active_;
  }
  try {
    notify(outcome_);
  } catch (...) {
    runtime().report_unhandled(std::current_exception());
  }
}

// All of them, whatever their destructors throw: the last error, with the others as its previous.
std::exception_ptr PoolCore::sweep() {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(idle_.empty());
  std::exception_ptr errors;
  while (PoolSlot* const slot = doomed_.first()) {
    doomed_.remove(*slot);
    const Claim claim(*this);
    errors = both(error_of([&] { destroy_shielded(*slot, nullptr); }), errors);
  }
  return errors;
}

void PoolCore::sweep_or_throw() {
  if (const std::exception_ptr errors = sweep()) std::rethrow_exception(errors);
}

}  // namespace fermata::detail
