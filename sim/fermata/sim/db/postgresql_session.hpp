// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the server says to clients of PostgreSQL's protocol 3.0, such as libpq.
//
// Commands   Those of the engine, and DISCARD ALL, DEALLOCATE, set_config(); several at once in a
//            simple query. BEGIN in a transaction, and COMMIT and ROLLBACK outside of one, are
//            warnings. COPY is refused.
// Outside of a transaction a command that writes is committed when the client says Sync; so an
//            error may come behind the answer to it.
// Errors     have the engine's SQLSTATEs. One in the extended protocol is followed by nothing until
//            Sync.
// Encryption is refused. A password is asked for when the database has users, in plain text.
// Cancelling by a connection of its own, which ends when the request has been handed on. It hits
//            the command that runs then, whichever that is; without one it is lost, or is late and
//            hits the next one, as behind a pooler of connections.

#include <cstddef>
#include <cstdint>
#include <span>

#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/server_session.hpp"

namespace fermata::sim::postgresql {

/// Talks to the client of this number until it goes, or has to go. It has said `begun` already.
/// Throws InputOutputError and Timeout when it cannot be reached.
void serve_client(detail::DatabaseServerState& server, std::uint64_t number, TcpStream stream,
                  std::span<const std::byte> begun);

}  // namespace fermata::sim::postgresql
