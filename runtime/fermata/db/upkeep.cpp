// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/upkeep.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/database_core.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/sync/pool_claim.hpp"

namespace fermata::db::detail {

namespace {

void set_attributes(const Template& made_of, Pooled& pooled) {
  FERMATA_ASSERT(pooled.attributes <= made_of.version);
  if (pooled.attributes == made_of.version) return;
  const std::uint64_t version = made_of.version;
  const auto attributes = made_of.attributes;  // Others may be set meanwhile.
  for (const auto& [name, value] : attributes) pooled.connection->set_attribute(name, value);
  pooled.attributes = version;
}

void clean(Pooled& pooled) {
  FERMATA_ASSERT(pooled.connection != nullptr);
  if (pooled.interrupted) pooled.interrupt();
  Connection& connection = *pooled.connection;
  if (connection.is_broken()) return;
  if (connection.transaction() != TransactionState::None) connection.rollback();
  if (pooled.touched) pooled.reset();
}

/// Throws Timeout when `work` on a connection takes longer than `limit`.
template <class Work>
void in_time(Duration limit, Name name, Work&& work) {
  FERMATA_ASSERT(limit > Duration::zero());
  SpawnOptions options;
  options.name = std::move(name);
  options.scope = &current_runtime().root_scope();
  auto worker = spawn(std::move(options), work);
  const std::exception_ptr error =
      fermata::detail::error_of([&] { await(worker, {.timeout = limit}); });
  if (!error) return;
  // It refers to the connection, which may go only after it.
  worker.cancel();
  static_cast<void>(fermata::detail::error_of([&] { protect([&] { wait(worker.event()); }); }));
  std::rethrow_exception(error);
}

}  // namespace

Pooled make_connection(Template& made_of) {
  std::unique_ptr<Connection> connection = made_of.driver->connect(made_of.target);
  FERMATA_ASSERT(connection != nullptr);
  Pooled pooled(std::move(connection), made_of.options.statement_cache, now());
  ++made_of.metrics.connected;
  set_attributes(made_of, pooled);
  return pooled;
}

bool before_acquire(const Template& made_of, Pooled& pooled) {
  if (pooled.connection->is_broken() || !pooled.connection->looks_alive()) return false;
  set_attributes(made_of, pooled);
  return true;
}

bool before_release(Template& made_of, Pooled& pooled) {
  const auto is_dirty = [&] {
    return pooled.interrupted || pooled.touched ||
           pooled.connection->transaction() != TransactionState::None;
  };
  if (is_dirty() && !pooled.connection->is_broken()) {
    in_time(made_of.options.cleanup_limit, "database.clean", [&] { clean(pooled); });
  }
  if (pooled.connection->is_broken() || is_dirty()) {
    ++made_of.metrics.broken;
    return false;
  }
  pooled.idle_since = now();
  return true;
}

bool may_stay(const Template& made_of, Pooled& pooled, std::size_t count) {
  if (!pooled.connection->looks_alive()) return false;
  const DatabaseOptions& options = made_of.options;
  const auto exceeds = [](Duration limit, Instant since) {
    return limit > Duration::zero() && now() - since >= limit;
  };
  const bool old =
      exceeds(options.idle_limit, pooled.idle_since) || exceeds(options.age_limit, pooled.made_at);
  if (old && count > static_cast<std::size_t>(options.min)) return false;
  if (options.health_check_interval > Duration::zero()) {
    in_time(options.cleanup_limit, "database.ping", [&] { pooled.connection->ping(); });
  }
  return true;
}

Duration upkeep_interval(const Template& made_of) {
  const DatabaseOptions& options = made_of.options;
  Duration interval = Duration::zero();
  for (const Duration each :
       {options.health_check_interval, options.idle_limit, options.age_limit}) {
    FERMATA_ASSERT(each >= Duration::zero());
    if (each == Duration::zero()) continue;
    interval = interval == Duration::zero() ? each : std::min(interval, each);
  }
  return interval;
}

}  // namespace fermata::db::detail
