// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/sync/circuit.hpp"

namespace fermata::db {

struct DatabaseOptions {
  /// In metrics and reports of deadlocks.
  std::string name = "database";
  /// How many connections there are at least, from the first use on; made in the background.
  std::int64_t min = 0;
  /// How many there are at most, those being made included.
  std::int64_t max = 10;
  /// How long a command waits for a connection; without it, forever. Then it throws Timeout.
  std::optional<Duration> acquire_timeout;
  /// How long a connection may be idle, and how old it may be, before it is closed; zero forever.
  /// There are never fewer than `min` because of this.
  Duration idle_limit = Duration::zero();
  Duration age_limit = Duration::zero();
  /// Time between two looks at what is idle, each with a round trip to the server; zero for none.
  Duration health_check_interval = Duration::zero();
  /// How long a connection may take to roll back and reset when it comes back, and to answer a
  /// health check; then it is closed.
  Duration cleanup_limit = std::chrono::seconds(5);
  /// Commands that each connection keeps prepared, the most recent ones; 0 for none. The server has
  /// up to `max` times as many. They are those of prepare() and, with PostgreSQL, those that a
  /// connection runs outside of transactions, from the second time on.
  std::size_t statement_cache = 0;
  /// Opens and closes the circuit, see PoolOptions.
  std::shared_ptr<CircuitStrategy> strategy;
  std::int64_t probes = 0;
  /// Attributes of each session, by their names at the server.
  std::vector<std::pair<std::string, std::string>> attributes;
  /// Refused: a connection that outlives its owner cannot be pooled (DB-16).
  bool persistent = false;
};

struct DatabaseMetrics {
  std::size_t idle = 0;
  /// In use, being made, checked, reset or closed.
  std::size_t active = 0;
  /// Coroutines in line for a connection.
  std::size_t waiting = 0;
  /// Totals since the start: connections made, connections that were broken when they came back,
  /// connections handed out, and the time that coroutines waited for one.
  std::uint64_t connected = 0;
  std::uint64_t broken = 0;
  std::uint64_t acquired = 0;
  Duration waited = Duration::zero();
  Duration longest_wait = Duration::zero();
};

/// How the last command of a coroutine has ended.
struct ErrorState {
  std::string sqlstate = "00000";
  std::string message;
};

}  // namespace fermata::db
