// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/server.hpp"

#include <optional>
#include <utility>

#include "fermata/core/scope.hpp"
#include "fermata/sim/db/server_session.hpp"

namespace fermata::sim {

DatabaseServer::DatabaseServer(Database& database, const Address& address,
                               const DatabaseServerOptions& options)
    : listener_(TcpListener::bind(address)),
      state_(std::make_shared<detail::DatabaseServerState>(
          detail::DatabaseServerState{database, options, {}, 0})) {
  database.end_sessions();
}

DatabaseServer::~DatabaseServer() = default;

void DatabaseServer::run() {
  const Scope sessions("database sessions");
  while (std::optional<TcpStream> client = listener_.accept()) {
    sessions.spawn("database session", [state = state_, stream = std::move(*client)]() mutable {
      detail::serve_database_client(state, std::move(stream));
    });
  }
}

void run_database(Database& database, const Address& address,
                  const DatabaseServerOptions& options) {
  DatabaseServer(database, address, options).run();
}

}  // namespace fermata::sim
