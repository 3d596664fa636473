// SPDX-License-Identifier: Apache-2.0
#pragma once

// The state behind a Database: what connections are made of, the pool of them, and which coroutine
// has which.

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "fermata/db/coroutine_end.hpp"
#include "fermata/db/driver.hpp"
#include "fermata/db/options.hpp"
#include "fermata/db/pooled.hpp"
#include "fermata/db/session.hpp"
#include "fermata/sync/pool.hpp"

namespace fermata::db::detail {

/// The parameters of every connection. Never changed by a connection (DB-19).
struct Template {
  std::unique_ptr<Driver> driver;
  Target target;
  DatabaseOptions options;
  /// The attributes of the sessions; a version is how many times they have been set.
  std::map<std::string, std::string> attributes;
  std::uint64_t version = 0;
  DatabaseMetrics metrics;  // Those that count.
};

class DatabaseCore final : public EndListener,
                           public SessionOwner,
                           public std::enable_shared_from_this<DatabaseCore> {
 public:
  /// Connects to nothing (DB-01). Throws UsageError.
  DatabaseCore(std::unique_ptr<Driver> driver, Target target, DatabaseOptions options);
  DatabaseCore(const DatabaseCore&) = delete;
  DatabaseCore& operator=(const DatabaseCore&) = delete;

  /// The session of the current coroutine; one is acquired when it has none, which may suspend.
  [[nodiscard]] std::shared_ptr<Session> session();
  /// The session of the current coroutine; null when it has none (DB-07).
  [[nodiscard]] std::shared_ptr<Session> peek() const;
  [[nodiscard]] ErrorState last_error() const;

  void set_attribute(std::string name, std::string value);

  /// Nobody gets a connection any more; those in use are closed when they come back.
  void close() noexcept;

  [[nodiscard]] DatabaseMetrics metrics() const;
  [[nodiscard]] const std::string& text() const noexcept { return *text_; }
  [[nodiscard]] Pool<Pooled>& pool() noexcept { return pool_; }

 private:
  struct Binding {
    std::shared_ptr<Session> session;  // Null while it has none.
    ErrorState error;
  };

  void coroutine_ended(std::uint64_t id) noexcept override;
  void unbind(std::uint64_t coroutine) noexcept override;
  void note(std::uint64_t coroutine, ErrorState state) noexcept override;

  [[nodiscard]] PoolOptions<Pooled> pool_options() const;
  [[nodiscard]] Lease<Pooled> acquire();
  Binding& binding_of_current();

  std::shared_ptr<Template> template_;
  std::shared_ptr<const std::string> text_;
  Pool<Pooled> pool_;
  std::map<std::uint64_t, Binding> bindings_;  // By coroutine, from its first command to its end.
  bool used_ = false;
};

}  // namespace fermata::db::detail
