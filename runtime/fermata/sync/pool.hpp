// SPDX-License-Identifier: Apache-2.0
#pragma once

// A pool of resources that are costly to make: connections, sessions, buffers.
//
//   Pool<Connection> pool("db", {.factory = connect, .before_release = reset, .max = 20});
//   auto connection = pool.acquire({.timeout = 1s});
//   connection->query("...");
//
// Order       First come, first served; the resource that has been idle longest is handed out.
// End         close(), or the end of the Pool, destroys what is idle; what is leased is destroyed
//             when it comes back: leases may outlive their pool.
// Suspension  Factory, hooks and destructor may suspend, and so may every operation that runs one.
// Source      POOL-01 to 22.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fermata/base/given_name.hpp"
#include "fermata/sync/pool_core.hpp"

namespace fermata {

template <class T>
class Pool;

template <class T>
struct PoolOptions {
  /// Makes a resource; nothing (std::nullopt, a null pointer) is a failure, as throwing is.
  std::function<std::optional<T>()> factory;
  /// Ends a resource, before its own destructor does; called once for each.
  std::function<void(T&)> destructor;
  /// Whether an idle resource is still in order; false or throwing destroys it.
  std::function<bool(T&)> health_check;
  /// Whether a resource that has been used before may be handed out again; as health_check.
  std::function<bool(T&)> before_acquire;
  /// Whether a resource that comes back can be used again; as health_check, and a failure.
  std::function<bool(T&)> before_release;
  /// The minimum number of resources: created at once, and replenished by the health check.
  std::int64_t min = 0;
  /// Whether the minimum is created at once; otherwise by the health check.
  bool filled_at_once = true;
  /// The maximum number of resources.
  std::int64_t max = 10;
  /// Time between two health checks of what is idle; zero for none.
  Duration health_check_interval = Duration::zero();
  /// Opens and closes the circuit; null leaves that to the program.
  std::shared_ptr<CircuitStrategy> strategy;
  /// How many acquires are let in while the circuit is RECOVERING until one of their resources has
  /// come back in order (the circuit is ACTIVE then) or failed (INACTIVE); 0 lets everybody in and
  /// leaves the circuit alone.
  std::int64_t probes = 0;
};

namespace detail {

template <class T>
class PoolSlotOf final : public PoolSlot {
 public:
  [[nodiscard]] const void* resource() const noexcept override { return std::addressof(*value); }
  std::optional<T> value;
};

template <class T>
class PoolOf final : public PoolCore {
 public:
  PoolOf(Name&& name, PoolOptions<T>&& options, const SourcePlace& place)
      : PoolCore(std::move(name),
                 {.min = options.min,
                  .filled_at_once = options.filled_at_once,
                  .max = options.max,
                  .probes = options.probes,
                  .health_check_interval = options.health_check_interval,
                  .strategy = options.strategy},
                 place),
        options_(std::move(options)) {
    if (!options_.factory) throw UsageError(subject() + ": no factory: expected one");
    if (options_.destructor) has_hook(Hook::Destructor);
    if (options_.health_check) has_hook(Hook::HealthCheck);
    if (options_.before_acquire) has_hook(Hook::BeforeAcquire);
    if (options_.before_release) has_hook(Hook::BeforeRelease);
  }

  using PoolCore::open;

 private:
  std::unique_ptr<PoolSlot> make() override {
    auto slot = std::make_unique<PoolSlotOf<T>>();
    std::optional<T> made = options_.factory();
    if (!made) return nullptr;
    if constexpr (requires { *made == nullptr; }) {
      if (*made == nullptr) return nullptr;
    }
    slot->value.emplace(std::move(*made));
    return slot;
  }

  bool call_hook(Hook hook, PoolSlot& slot) override {
    T& resource = *static_cast<PoolSlotOf<T>&>(slot).value;
    switch (hook) {
      case Hook::BeforeAcquire:
        return options_.before_acquire(resource);
      case Hook::BeforeRelease:
        return options_.before_release(resource);
      default:
        return options_.health_check(resource);
    }
  }

  void call_destructor(PoolSlot& slot) override {
    options_.destructor(*static_cast<PoolSlotOf<T>&>(slot).value);
  }

  PoolOptions<T> options_;
};

}  // namespace detail

/// The right to use one resource. The destructor gives the resource back without suspending: a hook
/// then runs in a coroutine of its own, and the resource is active until that has ended.
template <class T>
class Lease {
 public:
  Lease() noexcept = default;
  Lease(Lease&& from) noexcept
      : pool_(std::move(from.pool_)), slot_(std::exchange(from.slot_, nullptr)) {}
  Lease& operator=(Lease&& from) noexcept {
    std::swap(pool_, from.pool_);
    std::swap(slot_, from.slot_);
    return *this;
  }
  ~Lease() {
    if (slot_ != nullptr) pool_->drop(*slot_);
  }

  explicit operator bool() const noexcept { return slot_ != nullptr; }
  /// The resource. Throws UsageError when the lease has none, or no longer.
  [[nodiscard]] T& operator*() const { return *require("use").value; }
  [[nodiscard]] T* operator->() const { return &*require("use").value; }

  /// Gives the resource back. May suspend in hooks; throws what the destructor throws when the
  /// resource has to be destroyed, and a cancellation that arrives meanwhile: it is back by then.
  /// UsageError when it is back already.
  void release() {
    detail::PoolSlot& slot = require("release");
    slot_ = nullptr;
    pool_->give_back(slot);
  }

  /// Gives the resource back as broken, because of `error` if given: it is destroyed, which may
  /// suspend.
  void discard(std::exception_ptr error = nullptr) {
    detail::PoolSlot& slot = require("discard");
    slot_ = nullptr;
    pool_->discard(slot, std::move(error));
  }

  /// Leaves the resource to the caller, who has to give it to Pool::release. Until then its pool
  /// stays in memory.
  [[nodiscard]] T& detach() {
    auto& slot = require("detach");
    slot_ = nullptr;
    pool_->detach(slot);
    static_cast<void>(pool_.detach());
    return *slot.value;
  }

 private:
  friend class Pool<T>;
  using Slot = detail::PoolSlotOf<T>;

  Lease(detail::PoolOf<T>& pool, detail::PoolSlot& slot) noexcept
      : pool_(Ref<detail::PoolOf<T>>::share(pool)), slot_(static_cast<Slot*>(&slot)) {}

  Slot& require(const char* operation) const {
    if (slot_ == nullptr) [[unlikely]] {
      throw UsageError((pool_ ? pool_->subject() : "a lease of no pool") + ": " + operation +
                       ": the lease has no resource: expected one that was not given back");
    }
    return *slot_;
  }

  Ref<detail::PoolOf<T>> pool_;
  Slot* slot_ = nullptr;
};

template <class T>
class Pool {
 public:
  /// Makes the first `min` resources, which may suspend; what the factory throws leaves. Throws
  /// UsageError on limits that make no sense.
  explicit Pool(backend::GivenName name, PoolOptions<T> options,
                SourcePlace place = SourcePlace::current())
      : core_(Ref<detail::PoolOf<T>>::adopt(
            *new detail::PoolOf<T>(std::move(name), std::move(options), place))) {
    core_->open();
  }
  explicit Pool(PoolOptions<T> options, SourcePlace place = SourcePlace::current())
      : Pool(Name(), std::move(options), place) {}
  Pool(Pool&&) noexcept = default;
  Pool& operator=(Pool&& from) noexcept {
    std::swap(core_, from.core_);
    return *this;
  }
  /// Closes the pool like close(), but destructors of resources run in a coroutine of their own and
  /// their errors go to the log.
  ~Pool() {
    if (core_) core_->close_quietly();
  }

  /// See detail::PoolCore::acquire: waits in line while all resources are in use.
  [[nodiscard]] Lease<T> acquire(const WaitOptions& options = {},
                                 SourcePlace place = SourcePlace::current()) {
    detail::PoolOf<T>& core = *core_;  // This handle may go while the caller waits.
    return Lease<T>(core, core.acquire(options, place));
  }

  /// Acquires a resource without waiting in line; nothing when it would have to wait, on a closed
  /// pool and while INACTIVE. The hooks and the factory may suspend; what the factory throws
  /// leaves.
  [[nodiscard]] std::optional<Lease<T>> try_acquire() {
    detail::PoolOf<T>& core = *core_;
    detail::PoolSlot* const slot = core.try_acquire();
    if (slot == nullptr) return std::nullopt;
    return Lease<T>(core, *slot);
  }

  /// Gives back a lease of this pool; UsageError, and the lease stays, when it is another's.
  void release(Lease<T>&& lease) {
    if (lease.slot_ != nullptr && lease.pool_.get() != core_.get()) {
      throw UsageError(core_->subject() + ": release of a lease of " + lease.pool_->subject() +
                       ": expected one of this pool");
    }
    lease.release();
  }

  /// Gives back what was detached from its lease; UsageError when it is not such a resource of this
  /// pool, or has been given back.
  void release(T& resource) {
    detail::PoolSlot& slot = core_->detached(std::addressof(resource));
    const auto pin = Ref<detail::PoolOf<T>>::adopt(*core_);  // Left behind by detach.
    core_->give_back(slot);
  }

  /// Starts a health check now, unless one is running; as the timer does.
  void check_health() { core_->start_check(); }

  /// Closes the pool: waiting coroutines fail with PoolError, idle resources are destroyed, leased
  /// ones when they come back. Idempotent. See detail::PoolCore::close_pool.
  void close(SourcePlace place = SourcePlace::current()) { core_->close_pool(place); }
  [[nodiscard]] bool is_closed() const noexcept { return core_->is_closed(); }
  /// Fires when the pool is closed, with the PoolError that whoever waits gets; replays.
  [[nodiscard]] Event& event() const noexcept { return *core_; }

  /// The circuit; see circuit.hpp.
  [[nodiscard]] CircuitState state() const noexcept { return core_->state(); }
  /// Replaces the strategy of the options; null leaves the circuit to the program. The state stays.
  void set_strategy(std::shared_ptr<CircuitStrategy> strategy) const noexcept {
    core_->set_strategy(std::move(strategy));
  }
  void activate() { core_->activate(); }
  void deactivate() { core_->deactivate(); }
  void recover() { core_->recover(); }

  /// Resources, wherever they are, with those being made and being destroyed.
  [[nodiscard]] std::size_t count() const noexcept {
    return core_->idle_count() + core_->active_count();
  }
  [[nodiscard]] std::size_t idle_count() const noexcept { return core_->idle_count(); }
  [[nodiscard]] std::size_t active_count() const noexcept { return core_->active_count(); }
  /// Places promised to waiters that have not run yet.
  [[nodiscard]] std::size_t reserved_count() const noexcept { return core_->reserved_count(); }
  /// Waiters without a promise.
  [[nodiscard]] std::size_t waiting_count() const noexcept { return core_->waiting_count(); }

  [[nodiscard]] std::string_view name() const noexcept { return core_->name(); }
  /// "Pool(idle=I, active=A, reserved=R, max=M)".
  [[nodiscard]] std::string info() const { return core_->info(); }

 private:
  Ref<detail::PoolOf<T>> core_;
};

}  // namespace fermata
