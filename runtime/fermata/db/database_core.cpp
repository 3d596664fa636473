// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/database_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/upkeep.hpp"

namespace fermata::db::detail {

namespace {

std::shared_ptr<Template> checked(std::unique_ptr<Driver> driver, Target target,
                                  DatabaseOptions options) {
  const auto require = [&](bool holds, std::string_view what) {
    if (!holds) throw UsageError(fmt::format("database \"{}\": {}", target.text(), what));
  };
  require(driver != nullptr, "no driver: expected one");
  require(!options.persistent, "persistent connections cannot be used with a pool");
  require(options.min >= 0, fmt::format("min {}: expected 0 or more", options.min));
  require(options.max >= 1, fmt::format("max {}: expected 1 or more", options.max));
  require(options.min <= options.max,
          fmt::format("min {} is more than max {}: expected no more", options.min, options.max));
  require(options.acquire_timeout.value_or(Duration::zero()) >= Duration::zero(),
          "negative acquire_timeout: expected 0 or more");
  for (const Duration each :
       {options.idle_limit, options.age_limit, options.health_check_interval}) {
    require(each >= Duration::zero(), "negative limit or interval: expected 0 or more");
  }
  require(options.cleanup_limit > Duration::zero(), "cleanup_limit: expected more than 0");
  driver->check(target);
  auto made_of = std::make_shared<Template>();
  made_of->driver = std::move(driver);
  made_of->target = std::move(target);
  for (const auto& [name, value] : options.attributes) {
    made_of->attributes[name] = value;
    ++made_of->version;
  }
  made_of->options = std::move(options);
  return made_of;
}

}  // namespace

DatabaseCore::DatabaseCore(std::unique_ptr<Driver> driver, Target target, DatabaseOptions options)
    : template_(checked(std::move(driver), std::move(target), std::move(options))),
      text_(std::make_shared<const std::string>(template_->target.text())),
      pool_(Name(std::string(template_->options.name)), pool_options()) {}

PoolOptions<Pooled> DatabaseCore::pool_options() const {
  const DatabaseOptions& options = template_->options;
  PoolOptions<Pooled> result;
  // Each keeps the template: connections may outlive the database.
  result.factory = [made_of = template_]() -> std::optional<Pooled> {
    return make_connection(*made_of);
  };
  result.before_acquire = [made_of = template_](Pooled& pooled) {
    return before_acquire(*made_of, pooled);
  };
  result.before_release = [made_of = template_](Pooled& pooled) {
    return before_release(*made_of, pooled);
  };
  result.health_check = [this, made_of = template_](Pooled& pooled) {
    return may_stay(*made_of, pooled, pool_.count());  // A pool that is closed checks nothing.
  };
  result.min = options.min;
  result.filled_at_once = false;
  result.max = options.max;
  result.health_check_interval = upkeep_interval(*template_);
  result.strategy = options.strategy;
  result.probes = options.probes;
  return result;
}

// --- who has what ---

Lease<Pooled> DatabaseCore::acquire() {
  const Instant begin = now();
  Lease<Pooled> lease = pool_.acquire({.timeout = template_->options.acquire_timeout});
  DatabaseMetrics& metrics = template_->metrics;
  const Duration waited = now() - begin;
  FERMATA_ASSERT(lease && waited >= Duration::zero());
  ++metrics.acquired;
  metrics.waited += waited;
  metrics.longest_wait = std::max(metrics.longest_wait, waited);
  return lease;
}

DatabaseCore::Binding& DatabaseCore::binding_of_current() {
  CoroutineBase& coroutine = current_coroutine();
  const auto [found, is_new] = bindings_.try_emplace(coroutine.id());
  if (is_new) {
    try {
      listen_to_end(coroutine, weak_from_this());
    } catch (...) {
      bindings_.erase(found);
      throw;
    }
  }
  return found->second;
}

std::shared_ptr<Session> DatabaseCore::session() {
  const auto pin = shared_from_this();
  if (const auto& bound = binding_of_current().session) return bound;
  auto session = std::make_shared<Session>(text_, acquire());
  if (!std::exchange(used_, true) && template_->options.min > 0) pool_.check_health();
  // Bindings may have gone while this waited: then the session is its user's alone.
  if (pool_.is_closed()) return session;
  session->bind(*this, current_coroutine().id());
  binding_of_current().session = session;
  return session;
}

std::shared_ptr<Session> DatabaseCore::peek() const {
  const auto found = bindings_.find(current_coroutine().id());
  return found != bindings_.end() ? found->second.session : nullptr;
}

ErrorState DatabaseCore::last_error() const {
  const auto found = bindings_.find(current_coroutine().id());
  return found != bindings_.end() ? found->second.error : ErrorState();
}

void DatabaseCore::coroutine_ended(std::uint64_t id) noexcept {
  const auto found = bindings_.find(id);
  if (found == bindings_.end()) return;
  const std::shared_ptr<Session> session = std::move(found->second.session);
  bindings_.erase(found);
  if (session != nullptr) session->detach();
}

void DatabaseCore::unbind(std::uint64_t coroutine) noexcept {
  const auto found = bindings_.find(coroutine);
  if (found != bindings_.end()) found->second.session.reset();
}

void DatabaseCore::note(std::uint64_t coroutine, ErrorState state) noexcept {
  const auto found = bindings_.find(coroutine);
  if (found != bindings_.end()) found->second.error = std::move(state);
}

// Nothing here suspends or throws: the ends of connections do neither.
void DatabaseCore::close() noexcept {
  std::map<std::uint64_t, Binding> bindings;
  bindings.swap(bindings_);
  for (auto& [id, binding] : bindings) {
    if (binding.session != nullptr) binding.session->detach();
  }
  pool_.close();  // Before the bindings go: what they give back is closed.
}

// --- the rest ---

void DatabaseCore::set_attribute(std::string name, std::string value) {
  if (const auto bound = peek()) bound->set_attribute(name, value);
  ++template_->version;
  template_->attributes[std::move(name)] = std::move(value);
}

DatabaseMetrics DatabaseCore::metrics() const {
  DatabaseMetrics metrics = template_->metrics;
  metrics.idle = pool_.idle_count();
  metrics.active = pool_.active_count();
  metrics.waiting = pool_.waiting_count();
  return metrics;
}

}  // namespace fermata::db::detail
