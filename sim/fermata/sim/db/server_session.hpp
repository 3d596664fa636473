// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sync/semaphore.hpp"

namespace fermata::sim::detail {

/// What others need to cancel the command of a session.
struct Cancellable {
  std::uint64_t secret = 0;
  bool running = false;
  Semaphore cancels{0};
};

struct DatabaseServerState {
  Database& database;
  DatabaseServerOptions options;
  std::map<sql::SessionId, Cancellable*> sessions;
  std::uint64_t clients_made = 0;
};

/// Talks to one client until it goes, or has to go. Suspends.
void serve_database_client(const std::shared_ptr<DatabaseServerState>& server, TcpStream stream);

}  // namespace fermata::sim::detail
