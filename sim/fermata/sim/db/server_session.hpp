// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "fermata/base/error.hpp"
#include "fermata/base/time.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/server.hpp"
#include "fermata/sim/db/sql_error.hpp"
#include "fermata/sync/semaphore.hpp"

namespace fermata::sim::detail {

/// What others need to cancel the command of a session.
struct Cancellable {
  std::uint64_t secret = 0;
  bool running = false;
  bool comes_late = false;  // A cancellation that has met no command.
  Semaphore cancels{0};
};

struct DatabaseServerState {
  Database& database;
  DatabaseServerOptions options;
  std::map<sql::SessionId, Cancellable*> sessions;
  std::uint64_t clients_made = 0;
};

inline constexpr Duration kStartupMax = std::chrono::seconds(10);

/// The client cannot be served any longer; it is told why.
class Farewell : public Linkable<Farewell, sql::SqlError> {
 public:
  using Linkable::Linkable;
};

/// A session at the server, whatever its client speaks: what its commands take, and their
/// cancellation.
class Backend {
 public:
  Backend(DatabaseServerState& server, std::uint64_t secret);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend();

  [[nodiscard]] sql::Session& session() noexcept { return session_; }
  [[nodiscard]] std::uint64_t secret() const noexcept { return cancellable_.secret; }
  [[nodiscard]] const DatabaseServerOptions& options() const noexcept { return server_.options; }

  /// How long the client may be silent now, and what it is told then.
  [[nodiscard]] Duration silence_max() const noexcept;
  [[noreturn]] void throw_silent() const;

  [[nodiscard]] Duration latency() const;
  void delay_a_little() const;
  /// The command takes this long, and calls `still_running` now and then; or it is cancelled
  /// meanwhile, SqlError 57014.
  void pause(Duration span, const std::function<void()>& still_running);

 private:
  [[nodiscard]] bool is_open() const noexcept;
  [[nodiscard]] bool is_hit_late();
  [[noreturn]] void throw_cancelled();

  DatabaseServerState& server_;
  sql::Session session_;
  Cancellable cancellable_;
};

/// Throws the Farewell to who asks for another database, or is one too many.
void require_welcome(const DatabaseServerState& server, std::string_view database);

/// Whether a cancellation for which there is no command may hit the next one.
enum class Lateness : std::uint8_t { None, Drawn };

/// Cancels the command that a session runs. Nothing happens for another secret.
void cancel_session(DatabaseServerState& server, sql::SessionId session, std::uint64_t secret,
                    Lateness lateness);

/// Talks to one client until it goes, or has to go. Suspends.
void serve_database_client(const std::shared_ptr<DatabaseServerState>& server, TcpStream stream);

}  // namespace fermata::sim::detail
