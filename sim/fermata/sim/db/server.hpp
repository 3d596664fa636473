// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server of a simulated Database, for one machine of a World or for a real loopback: everything
// between it and its clients goes through TcpListener and TcpStream, and so meets what happens to
// those. The program of a machine that may crash is run_database(): when it begins, what sessions
// of a life before have left open is rolled back.
//
// Sessions  One coroutine for each connection, one command after the other. A command takes a drawn
//           while before it is carried out, in which it can be cancelled (SQLSTATE 57014), and
//           another one before it is answered, in which it cannot.
// Silence   A client that says nothing is sent away after a while (25P03, 57P05): its transaction
//           would be in the way of others.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fermata/base/time.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/tap.hpp"

namespace fermata::sim {

struct DatabaseServerOptions {
  /// The most that a command waits before it runs, and again before its answer.
  Duration latency_max = std::chrono::milliseconds(2);
  /// How often a client is told that its command runs.
  Duration still_running_interval = std::chrono::seconds(5);
  /// How long a client may be silent, and may take to receive, in a transaction and outside of one.
  Duration transaction_idle_max = std::chrono::minutes(1);
  Duration session_idle_max = std::chrono::hours(1);
  /// More clients than that get 53300.
  std::size_t sessions_max = 100;
  /// Null for none.
  std::shared_ptr<DatabaseTap> tap;
};

namespace detail {
struct DatabaseServerState;
}

class DatabaseServer {
 public:
  /// Listens at `address`; throws as TcpListener::bind() does. Ends the sessions that `database`,
  /// which must outlive this, still has.
  DatabaseServer(Database& database, const Address& address,
                 const DatabaseServerOptions& options = {});
  DatabaseServer(const DatabaseServer&) = delete;
  DatabaseServer& operator=(const DatabaseServer&) = delete;
  ~DatabaseServer();

  [[nodiscard]] Address address() const { return listener_.local_address(); }

  /// Serves until stop(), or a cancellation. Sessions that are left are cut off at its end.
  void run();
  void stop() noexcept { listener_.close(); }

 private:
  TcpListener listener_;
  std::shared_ptr<detail::DatabaseServerState> state_;
};

/// Serves `database` forever.
void run_database(Database& database, const Address& address,
                  const DatabaseServerOptions& options = {});

}  // namespace fermata::sim
