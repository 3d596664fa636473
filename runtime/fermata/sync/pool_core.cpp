// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/pool_core.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/core/sweep.hpp"
#include "fermata/core/switching.hpp"
#include "fermata/sync/operation.hpp"
#include "fermata/sync/pool_claim.hpp"

namespace fermata::detail {

namespace {

void require_valid(const PoolSettings& settings, const std::string& subject) {
  const auto refuse = [&](const char* what, std::int64_t value, const std::string& expected) {
    throw UsageError(fmt::format("{}: {} of {}: expected {}", subject, what, value, expected));
  };
  if (settings.min < 0) refuse("min", settings.min, "0 or more");
  if (settings.max < 1) refuse("max", settings.max, "1 or more");
  if (settings.min > settings.max) {
    refuse("min", settings.min, fmt::format("at most max, which is {}", settings.max));
  }
  if (settings.probes < 0) refuse("probes", settings.probes, "0 or more");
  const std::int64_t interval = settings.health_check_interval.count();
  if (interval < 0) refuse("health_check_interval in ns", interval, "0 (never) or more");
}

}  // namespace

PoolCore::PoolCore(Name&& name, PoolSettings&& settings, const SourcePlace& place)
    : Event(current_runtime(), backend::EventKind::Plain),
      name_(std::move(name)),
      place_(place),
      settings_(std::move(settings)) {
  require_valid(settings_, subject());
  set_strategy(settings_.strategy);
}

PoolCore::~PoolCore() {
  FERMATA_ASSERT(all_.empty());
  shut();
}

void PoolCore::has_hook(Hook hook) noexcept {
  FERMATA_ASSERT(all_.empty());
  FERMATA_ASSERT(!has(hook));
  hooks_ = static_cast<std::uint8_t>(hooks_ | 1u << static_cast<unsigned>(hook));
  if (hook == Hook::BeforeAcquire || hook == Hook::BeforeRelease) detours_ |= kHooks;
}

std::string PoolCore::info() const {
  return fmt::format("Pool(idle={}, active={}, reserved={}, max={})", idle_.size(), active_,
                     line_.granted(), settings_.max);
}

void PoolCore::explain_wait(backend::WaitFacts& facts, const CoroutineBase&) const {
  facts.is("pool", name_.view(), &place_);
  facts.state(fmt::format("{} of {} in use", active_, settings_.max));
}

std::string PoolCore::subject() const {
  std::string text = name_.empty() ? "pool" : fmt::format("pool '{}'", name_.view());
  text += fmt::format(" created at {}:{}", place_.file, place_.line);
  if (closed_at_) text += fmt::format(", closed at {}:{}", closed_at_->file, closed_at_->line);
  return text;
}

void PoolCore::log(const char* what, const std::exception_ptr& error) const {
  runtime().log(fmt::format("{}: {}: {}", what, subject(), describe(error)));
}

PoolSlot& PoolCore::acquire_slow_path(const WaitOptions& options, const SourcePlace& place) {
  check_token(options);
  const auto pin = Ref<PoolCore>::share(*this);
  if (is_closed()) throw about(PoolError(kPoolIsClosed));
  const std::optional<std::uint64_t> probation = admit();
  if (!probation) throw about(ServiceUnavailable(kServiceIsUnavailable));
  Probe probe(*this, *probation);
  if (free_places() > 0) {
    ++active_;
  } else {
    stand_in_line(options, place);
  }
  PoolSlot* const slot = use_place(probe);
  if (slot == nullptr) throw about(PoolError(is_closed() ? kPoolIsClosed : kNothingMade));
  log_lease(backend::WaitAct::Took, *slot, &place);
  return *slot;
}

PoolSlot* PoolCore::try_acquire() {
  const auto pin = Ref<PoolCore>::share(*this);
  if (is_closed()) return nullptr;
  const std::optional<std::uint64_t> probation = admit();
  if (!probation) return nullptr;
  Probe probe(*this, *probation);
  if (free_places() <= 0) {
    runtime().kernel().log_wait(backend::WaitAct::Refused, *this, nullptr);
    return nullptr;
  }
  ++active_;
  PoolSlot* const slot = use_place(probe);
  if (slot != nullptr) log_lease(backend::WaitAct::Took, *slot, nullptr);
  return slot;
}

// Returns with a place that counts as active. The reservation becomes that place without a
// suspension in between.
void PoolCore::stand_in_line(const WaitOptions& options, const SourcePlace& place) {
  Waiter me(line_);
  try {
    me.park(*this, options, place);
  } catch (...) {
    if (me.leave()) wake_waiters();
    throw;
  }
  FERMATA_ASSERT(me.granted());
  me.leave();
  FERMATA_ASSERT(free_places() > 0);
  ++active_;
}

PoolSlot* PoolCore::use_place(Probe& probe) {
  FERMATA_ASSERT(active_ > 0);
  FERMATA_ASSERT(active_ <= settings_.max);
  Claim claim(*this);
  PoolSlot* const slot = obtain(probe.probation());
  if (slot == nullptr) return nullptr;
  claim.keep();
  slot->probation_ = probe.keep();
  return &lease(*slot);
}

// However many resources turn out to be stale, the caller keeps its place: it never goes back into
// the line (POOL-06, 22). Null when the pool is closed, or the factory made nothing.
PoolSlot* PoolCore::obtain(std::uint64_t probation) {
  while (!is_closed() && !idle_.empty()) {
    PoolSlot& slot = take_idle();
    const Verdict verdict = consult(Hook::BeforeAcquire, slot);
    if (verdict.accepted && !is_closed()) return &slot;
    destroy_shielded(slot, verdict.stop ? verdict.error : nullptr);
  }
  if (is_closed()) return nullptr;
  PoolSlot* const slot = create(probation);
  if (slot == nullptr || !is_closed()) return slot;
  destroy_shielded(*slot, nullptr);
  return nullptr;
}

PoolSlot* PoolCore::create(std::uint64_t probation) {
  FERMATA_ASSERT(active_ > 0);
  FERMATA_ASSERT(active_ <= settings_.max);
  std::unique_ptr<PoolSlot> made;
  const std::exception_ptr error = error_of([&] { made = make(); });
  if (made != nullptr) {
    FERMATA_ASSERT(made->state_ == PoolSlot::State::Busy);
    made->number_ = ++made_;
    all_.push_back(*made);
    return made.release();
  }
  if (!is_stop(error)) {
    report_failure(probation, error ? error : std::make_exception_ptr(PoolError(kNothingMade)));
  }
  if (error) std::rethrow_exception(error);
  return nullptr;
}

PoolCore::Verdict PoolCore::consult(Hook hook, PoolSlot& slot) {
  Verdict verdict;
  if (!has(hook)) return verdict;
  verdict.error = error_of([&] { verdict.accepted = call_hook(hook, slot); });
  if (verdict.error) verdict.accepted = false;
  verdict.stop = is_stop(verdict.error);
  return verdict;
}

void PoolCore::discard(PoolSlot& slot, std::exception_ptr error) {
  log_lease(backend::WaitAct::Discarded, slot, nullptr);
  const Verdict broken{.accepted = false, .error = std::move(error)};
  give_back_slow_path(slot, &broken);
}

void PoolCore::give_back_slow_path(PoolSlot& slot, const Verdict* known) {
  FERMATA_ASSERT(slot.state_ != PoolSlot::State::Idle);
  const bool in_flight = std::uncaught_exceptions() > 0;
  const auto pin = Ref<PoolCore>::share(*this);
  slot.state_ = PoolSlot::State::Busy;
  const std::exception_ptr error =
      error_of([&] { shielded(runtime(), [&] { settle(slot, known); }); });
  if (!error) return;
  if (!in_flight) std::rethrow_exception(error);
  log("An error while a resource was given back", error);
}

void PoolCore::settle(PoolSlot& slot, const Verdict* known) {
  FERMATA_ASSERT(slot.state_ == PoolSlot::State::Busy);
  const Claim claim(*this);
  const std::uint64_t probation = std::exchange(slot.probation_, 0);
  const Verdict verdict = known != nullptr ? *known : consult(Hook::BeforeRelease, slot);
  if (verdict.accepted) {
    report_success(probation);
    if (!is_closed()) return push_idle(slot);
  } else if (verdict.stop) {
    return_probe(probation);
  } else {
    report_failure(probation, verdict.error ? verdict.error
                                            : std::make_exception_ptr(PoolError(kNotAccepted)));
  }
  destroy_shielded(slot, verdict.stop ? verdict.error : nullptr);
}

// The resource counts until its destructor has ended (POOL-19), and is gone even when that throws.
void PoolCore::destroy(PoolSlot& slot) {
  FERMATA_ASSERT(slot.state_ == PoolSlot::State::Busy);
  FERMATA_ASSERT(active_ > 0);
  std::exception_ptr error;
  if (has(Hook::Destructor)) error = error_of([&] { call_destructor(slot); });
  all_.remove(slot);
  delete &slot;
  if (error) std::rethrow_exception(error);
}

// Throws `stop`, when there is one, or what the destructor throws.
void PoolCore::destroy_shielded(PoolSlot& slot, const std::exception_ptr& stop) {
  const std::exception_ptr error =
      both(stop, error_of([&] { shielded(runtime(), [&] { destroy(slot); }); }));
  if (error) std::rethrow_exception(error);
}

void PoolCore::detach(PoolSlot& slot) noexcept {
  FERMATA_ASSERT(slot.state_ == PoolSlot::State::Leased);
  slot.state_ = PoolSlot::State::Detached;
}

PoolSlot& PoolCore::detached(const void* resource) const {
  PoolSlot* slot = all_.first();
  while (slot != nullptr && slot->resource() != resource) slot = All::after(*slot);
  const char* what = nullptr;
  if (slot == nullptr) {
    what = "that is not one of its own";
  } else if (slot->state_ == PoolSlot::State::Leased) {
    what = "that a lease holds";
  } else if (slot->state_ != PoolSlot::State::Detached) {
    what = "that has been released already";
  }
  if (what == nullptr) return *slot;
  throw UsageError(
      fmt::format("{}: release of a resource {}: expected one that was detached from its lease",
                  subject(), what));
}

void PoolCore::drop(PoolSlot& slot) noexcept {
  const bool may_suspend = has(Hook::BeforeRelease) || (is_closed() && has(Hook::Destructor));
  if (!may_suspend) return give_back(slot);
  log_lease(backend::WaitAct::Gave, slot, nullptr);
  slot.state_ = PoolSlot::State::Busy;
  end_in_background(&slot);
}

/// What a destructor leaves to a coroutine: giving back one resource, or ending all that are
/// doomed. When that coroutine never runs, the resources are ended without it.
class PoolCore::Cleanup {
 public:
  Cleanup(PoolCore& pool, PoolSlot* slot) noexcept
      : pool_(Ref<PoolCore>::share(pool)), slot_(slot) {}
  Cleanup(const Cleanup&) = delete;
  Cleanup& operator=(const Cleanup&) = delete;
  ~Cleanup() {
    if (ran_) return;
    const NoSuspend guard(pool_->runtime());
    const Verdict unknown{.accepted = false, .error = nullptr, .stop = true};
    finish([&] { slot_ != nullptr ? pool_->settle(*slot_, &unknown) : pool_->sweep_or_throw(); });
  }

  void run() {
    ran_ = true;
    finish([&] {
      slot_ != nullptr ? pool_->give_back_slow_path(*slot_, nullptr) : pool_->sweep_or_throw();
    });
  }

 private:
  template <class F>
  void finish(F&& work) {
    const std::exception_ptr error = error_of(work);
    if (is_forced_unwind(error)) std::rethrow_exception(error);
    if (error && !is_cancellation(error)) pool_->log("An error of a resource's end", error);
  }

  Ref<PoolCore> pool_;
  PoolSlot* slot_;
  bool ran_ = false;
};

void PoolCore::end_in_background(PoolSlot* slot) noexcept {
  const auto work = std::make_shared<Cleanup>(*this, slot);
  Scheduler& scheduler = runtime().scheduler();
  const CoroutineBase* const caller = runtime().current();
  // What the hooks use may be gone before a coroutine of their own could be unwound.
  if (!scheduler.is_active() || (caller != nullptr && Scheduler::unwinding(*caller))) return;
  std::string name = name_.empty() ? "pool" : std::string(name_.view());
  Sweep::launch(scheduler, scheduler.root_scope(), std::move(name) + ".cleanup",
                {[work] { work->run(); }});
}

void PoolCore::wake_waiters() {
  if (is_closed() || state_ == CircuitState::Inactive) return;
  while (free_places() > 0 && line_.grant()) continue;
  FERMATA_ASSERT(free_places() >= 0);
}

}  // namespace fermata::detail
