// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "fermata/sim/db/server_session.hpp"

namespace fermata::sim::detail {

using sql::SqlError;

Backend::Backend(DatabaseServerState& server, std::uint64_t secret)
    : server_(server), session_(server.database) {
  cancellable_.secret = secret;
  server_.sessions.emplace(session_.id(), &cancellable_);
}

Backend::~Backend() { server_.sessions.erase(session_.id()); }

bool Backend::is_open() const noexcept {
  return session_.transaction() != db::TransactionState::None;
}

Duration Backend::silence_max() const noexcept {
  return is_open() ? server_.options.transaction_idle_max : server_.options.session_idle_max;
}

void Backend::throw_silent() const {
  if (is_open()) throw Farewell("25P03", "the transaction was idle for too long");
  throw Farewell("57P05", "the session was idle for too long");
}

Duration Backend::latency() const {
  const auto bound = static_cast<std::uint64_t>(server_.options.latency_max.count());
  return Duration(bound == 0 ? 0 : static_cast<std::int64_t>(random(bound)));
}

void Backend::delay_a_little() const {
  const Duration span = latency();
  if (span > Duration::zero()) delay(span);
}

void Backend::pause(Duration span, const std::function<void()>& still_running) {
  while (cancellable_.cancels.try_acquire()) {  // Too late for the command before.
  }
  struct Running {
    bool& running;
    explicit Running(bool& flag) : running(flag) { running = true; }
    ~Running() { running = false; }
  } const running(cancellable_.running);
  if (is_hit_late()) throw_cancelled();
  const Instant end = now() + span;
  while (true) {
    const Duration left = end - now();
    if (left <= Duration::zero()) return;
    const Duration slice = std::min(left, server_.options.still_running_interval);
    try {
      cancellable_.cancels.acquire(1, {.timeout = slice});
    } catch (const Timeout&) {
      if (slice == left) return;
      still_running();
      continue;
    }
    throw_cancelled();
  }
}

bool Backend::is_hit_late() {
  return std::exchange(cancellable_.comes_late, false) && random(2) != 0;
}

void Backend::throw_cancelled() {
  session_.fail("57014");
  throw SqlError("57014", "canceling statement due to user request");
}

void require_welcome(const DatabaseServerState& server, std::string_view database) {
  if (database != server.database.name()) {
    throw Farewell("3D000", fmt::format("database \"{}\" does not exist", database));
  }
  if (server.sessions.size() >= server.options.sessions_max) {
    throw Farewell("53300", "sorry, too many clients already");
  }
}

void cancel_session(DatabaseServerState& server, sql::SessionId session, std::uint64_t secret,
                    Lateness lateness) {
  const auto found = server.sessions.find(session);
  if (found == server.sessions.end() || found->second->secret != secret) return;
  if (found->second->running) return found->second->cancels.release();
  if (lateness == Lateness::Drawn) found->second->comes_late = true;
}

}  // namespace fermata::sim::detail
