// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pool of resources of some kind: who has which, who stands in line, the circuit, the health
// check, the end. What a resource is, how it is made and ended, a subclass knows.
//
// A place     An idle resource, or capacity for one that is not made yet. Whoever takes one counts
//             as active from that moment, through every hook, until its resource is idle again or
//             destroyed to the end: idle + active <= max, and so many live at most (POOL-01, 19).
// Line        Whoever finds no free place waits; a place that becomes free is reserved for the
//             oldest waiter, and nobody else takes it (POOL-05, 21).
// Suspension  Where a hook, the factory or the destructor runs: acquire, try_acquire, release,
//             discard, close. Each says what it does when its caller is cancelled there.
// Allocation  A slot for each resource made. Acquiring and releasing none, but for releasing with
//             a hook or a destructor from the destructor of a lease.
// Files       pool_core.cpp: acquire, release; pool_core_upkeep.cpp: min, health check, close;
//             pool_core_circuit.cpp.
// Source      POOL-01 to 22.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/base/intrusive_list.hpp"
#include "fermata/base/name.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/sync/circuit.hpp"
#include "fermata/sync/wait_queue.hpp"

namespace fermata::detail {

class PoolCore;

/// One resource with what its pool knows about it.
class PoolSlot {
 public:
  enum class State : std::uint8_t {
    Idle,
    Leased,
    Detached,  // leased, and no lease is left that would give it back
    Busy,      // in the factory, a hook, the health check or the destructor
  };

  PoolSlot() = default;
  PoolSlot(const PoolSlot&) = delete;
  PoolSlot& operator=(const PoolSlot&) = delete;
  virtual ~PoolSlot() = default;

  [[nodiscard]] virtual const void* resource() const noexcept = 0;
  [[nodiscard]] State state() const noexcept { return state_; }

 private:
  friend class PoolCore;

  Link<PoolSlot> all_link_;
  Link<PoolSlot> line_link_;     // Idle, or about to be destroyed by close.
  std::uint64_t number_ = 0;     // From 1 on, in the order in which the pool made them.
  std::uint64_t turn_ = 0;       // When it became idle: the order of the ring.
  std::uint64_t probation_ = 0;  // Of which recovery its lease is a probe; 0: of none.
  State state_ = State::Busy;
};

/// The options of a pool that do not depend on the type of its resources.
struct PoolSettings {
  std::int64_t min = 0;
  bool filled_at_once = true;
  std::int64_t max = 0;
  std::int64_t probes = 0;
  Duration health_check_interval = Duration::zero();
  std::shared_ptr<CircuitStrategy> strategy;
};

class PoolCore : public Event, public Circuit {
 public:
  /// A resource to use, first come, first served. Waits in line as `options` say; the factory and
  /// the hooks are not cut short by them. Throws PoolError when the pool is closed, before or
  /// meanwhile, or the factory makes nothing; ServiceUnavailable while INACTIVE; what the factory
  /// threw; Timeout, OperationCancelled, Cancellation: then nothing was taken (POOL-08, 11, 20).
  /// `before_acquire` sees reused resources only; one that it does not accept is destroyed, and
  /// what the destructor throws leaves acquire.
  [[nodiscard]] PoolSlot& acquire(const WaitOptions& options, const SourcePlace& place) {
    const bool plain = detours_ == 0 && !options.timeout && options.token == nullptr;
    if (plain && free_places() > 0 && !idle_.empty()) [[likely]] {
      ++active_;
      PoolSlot& slot = lease(take_idle());
      log_lease(backend::WaitAct::Took, slot, &place);
      return slot;
    }
    return acquire_slow_path(options, place);
  }

  /// Acquires a resource without waiting in line; null when that would be needed, on a closed pool,
  /// while INACTIVE, and when the factory makes nothing.
  [[nodiscard]] PoolSlot* try_acquire();

  /// Gives back a leased resource: it is idle again, or destroyed when `before_release` does not
  /// accept it or the pool is closed. A caller that is being cancelled is protected meanwhile; a
  /// cancellation that arrives inside the hook destroys the resource and is thrown at the end.
  /// Throws what the destructor threw, unless an exception is in flight in the caller: then it goes
  /// to the log (POOL-18).
  void give_back(PoolSlot& slot) {
    log_lease(backend::WaitAct::Gave, slot, nullptr);
    if (detours_ == 0 && line_.waiting() == 0) [[likely]] {
      push_idle(slot);
      --active_;
      return;
    }
    give_back_slow_path(slot, nullptr);
  }
  /// Gives back a broken resource: no hook runs; it is destroyed and reported as a failure, with
  /// `error` if there is one.
  void discard(PoolSlot& slot, std::exception_ptr error);
  /// Gives back a resource without suspending: hooks run in a coroutine of their own.
  void drop(PoolSlot& slot) noexcept;

  /// From now on `resource` is given back by its address. REQUIRES: it is leased.
  void detach(PoolSlot& slot) noexcept;
  /// UsageError unless `resource` is one that was detached and not given back since.
  [[nodiscard]] PoolSlot& detached(const void* resource) const;

  /// Looks after what is idle and not promised, in a coroutine of the pool's own: destroys what
  /// `health_check` does not accept, then makes what is missing to `min` (POOL-14). No effect while
  /// the check before still runs, and on a closed pool.
  void start_check();

  /// Idempotent. Fails everybody in line, oldest first, those with a reservation included, then
  /// destroys what is idle; what is active is destroyed when it is given back. A destructor that
  /// throws does not keep the others from running (POOL-13): their errors, linked, are thrown at
  /// the end, unless an exception is in flight in the caller. May suspend in destructors.
  void close_pool(const SourcePlace& place);
  /// Closes the pool without suspending or throwing.
  void close_quietly() noexcept;

  [[nodiscard]] CircuitState state() const noexcept override { return state_; }
  /// From now on `strategy` is told; null: nobody. The state of the circuit stays.
  void set_strategy(std::shared_ptr<CircuitStrategy> strategy) noexcept;
  /// Makes the service ACTIVE and serves waiting coroutines as far as there are places.
  void activate() override;
  /// Everybody in line fails with ServiceUnavailable, those with a reservation included (POOL-16).
  void deactivate() override;
  /// Makes the service available again like activate, but lets only `probes` acquires in until one
  /// of them has an outcome.
  void recover() override;

  [[nodiscard]] std::size_t idle_count() const noexcept { return idle_.size(); }
  [[nodiscard]] std::size_t active_count() const noexcept {
    return static_cast<std::size_t>(active_);
  }
  [[nodiscard]] std::size_t reserved_count() const noexcept { return line_.granted(); }
  [[nodiscard]] std::size_t waiting_count() const noexcept { return line_.waiting(); }
  [[nodiscard]] std::string_view name() const noexcept { return name_.view(); }

  /// "Pool(idle=I, active=A, reserved=R, max=M)".
  [[nodiscard]] std::string info() const override;
  void explain_wait(backend::WaitFacts& facts, const CoroutineBase& waiter) const override;
  [[nodiscard]] bool lines_are_in_order() const noexcept override { return line_.is_in_order(); }
  [[nodiscard]] const Outcome* replay() const noexcept override {
    return is_closed() ? &outcome_ : nullptr;
  }

  /// "pool 'name' created at file:line", and where it was closed.
  [[nodiscard]] std::string subject() const;

 protected:
  enum class Hook : std::uint8_t { BeforeAcquire, BeforeRelease, HealthCheck, Destructor };

  PoolCore(Name&& name, PoolSettings&& settings, const SourcePlace& place);
  ~PoolCore() override;

  /// After the subclass knows its hooks: makes the first `min` resources, unless that is left to
  /// the health check, and starts that one. What the factory throws leaves, when those made so far
  /// are destroyed.
  void open();
  /// REQUIRES: not open yet.
  void has_hook(Hook hook) noexcept;

 private:
  class Claim;
  class Probe;
  class Cleanup;

  // The subclass: each may suspend and throw.
  /// Null when the factory made nothing.
  virtual std::unique_ptr<PoolSlot> make() = 0;
  /// Any hook but the destructor.
  virtual bool call_hook(Hook hook, PoolSlot& slot) = 0;
  virtual void call_destructor(PoolSlot& slot) = 0;

  using Ring = IntrusiveList<PoolSlot, &PoolSlot::line_link_>;
  using All = IntrusiveList<PoolSlot, &PoolSlot::all_link_>;

  /// Reasons why acquire and release take the slow path.
  enum Detour : std::uint8_t { kClosed = 1, kCircuit = 2, kHooks = 4, kStrategy = 8 };

  struct Verdict {
    bool accepted = true;
    std::exception_ptr error;  // The hook's.
    bool stop = false;         // `error` is to be thrown on.
  };

  [[nodiscard]] bool has(Hook hook) const noexcept {
    return (hooks_ >> static_cast<unsigned>(hook) & 1) != 0;
  }
  [[nodiscard]] std::int64_t free_places() const noexcept {
    return settings_.max - active_ - static_cast<std::int64_t>(line_.granted());
  }
  [[nodiscard]] std::int64_t total() const noexcept {
    return active_ + static_cast<std::int64_t>(idle_.size());
  }

  void log_lease(backend::WaitAct act, const PoolSlot& slot, const SourcePlace* place) const {
    runtime().kernel().log_lease(act, {*this, name_.view(), slot.number_}, place);
  }

  // pool_core.cpp
  PoolSlot& acquire_slow_path(const WaitOptions& options, const SourcePlace& place);
  void stand_in_line(const WaitOptions& options, const SourcePlace& place);
  PoolSlot* use_place(Probe& probe);
  PoolSlot* obtain(std::uint64_t probation);
  PoolSlot* create(std::uint64_t probation);
  Verdict consult(Hook hook, PoolSlot& slot);
  /// A verdict that is known already takes the place of the hook.
  void give_back_slow_path(PoolSlot& slot, const Verdict* known);
  void settle(PoolSlot& slot, const Verdict* known);
  void destroy(PoolSlot& slot);
  void destroy_shielded(PoolSlot& slot, const std::exception_ptr& stop);
  void end_in_background(PoolSlot* slot) noexcept;
  void wake_waiters();
  PoolSlot& take_idle() noexcept {
    PoolSlot& slot = *idle_.first();
    FERMATA_ASSERT(slot.state_ == PoolSlot::State::Idle);
    idle_.remove(slot);
    slot.state_ = PoolSlot::State::Busy;
    return slot;
  }
  void push_idle(PoolSlot& slot) noexcept {
    FERMATA_ASSERT(slot.state_ != PoolSlot::State::Idle);
    slot.state_ = PoolSlot::State::Idle;
    slot.turn_ = next_turn_++;
    idle_.push_back(slot);
  }
  static PoolSlot& lease(PoolSlot& slot) noexcept {
    FERMATA_ASSERT(slot.state_ == PoolSlot::State::Busy);
    slot.state_ = PoolSlot::State::Leased;
    return slot;
  }

  // pool_core_upkeep.cpp
  std::exception_ptr refill();
  void watch_health();
  void check_health();
  void check_oldest();
  void begin_close();
  std::exception_ptr sweep();
  void sweep_or_throw();

  // pool_core_circuit.cpp
  /// Null when nobody is let in; else of which recovery the caller is a probe, 0 for of none.
  std::optional<std::uint64_t> admit();
  void enter(CircuitState state);
  [[nodiscard]] bool on_probation(std::uint64_t probation) const noexcept {
    return probation != 0 && probation == probation_ && state_ == CircuitState::Recovering;
  }
  void report_success(std::uint64_t probation);
  void report_failure(std::uint64_t probation, const std::exception_ptr& error);
  /// A probe ends without an outcome: another one may take its turn.
  void return_probe(std::uint64_t probation) noexcept {
    if (!on_probation(probation)) return;
    FERMATA_ASSERT(probes_out_ > 0);
    --probes_out_;
  }
  template <class Call>
  void tell_strategy(Call&& call) noexcept;

  /// `error`, with which pool it is about as its previous.
  template <class E>
  [[nodiscard]] E about(E error) const {
    error.set_previous(std::make_exception_ptr(Error(subject())));
    return error;
  }
  void log(const char* what, const std::exception_ptr& error) const;

  Name name_;
  SourcePlace place_;
  std::optional<SourcePlace> closed_at_;
  Outcome outcome_;  // Valid once closed.
  const PoolSettings settings_;
  std::shared_ptr<CircuitStrategy> strategy_;  // Begins as that of the settings.
  std::int64_t active_ = 0;
  std::uint8_t detours_ = 0;
  std::uint8_t hooks_ = 0;  // A bit for each.
  WaitQueue line_;
  Ring idle_;  // By turn.
  Ring doomed_;
  All all_;
  std::uint64_t next_turn_ = 0;
  std::uint64_t made_ = 0;  // How many resources it ever had.

  std::optional<Timer> clock_;
  Subscription ticks_;
  Coroutine<> check_;

  CircuitState state_ = CircuitState::Active;
  std::int64_t probes_out_ = 0;  // Let in since the last recover, without an outcome.
  std::uint64_t probation_ = 0;  // Counts the recoveries.
};

}  // namespace fermata::detail
