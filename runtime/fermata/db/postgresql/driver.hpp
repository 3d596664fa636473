// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/db/driver.hpp"

namespace fermata::db::postgresql {

/// PostgreSQL through libpq's calls that do not block; waits are the reactor's.
///
/// URL      postgresql://[USER[:PASSWORD]@][HOST[:PORT]]/DATABASE. Names are resolved by the
///          runtime; without a host it is the socket of this machine. Options: connect_timeout
///          (seconds, 10 unless told otherwise), sslmode, sslrootcert, sslcert, sslkey,
///          application_name, options, target_session_attrs, channel_binding, gssencmode.
/// Kinds    boolean, the integers and oid, real and double precision, bytea come as what they are,
///          everything else as text.
/// Refused  Several commands in one text, and COPY to or from the client.
/// SQLSTATE The server's; 08001 for a connection that does not come about for another reason than
///          what the server says.
[[nodiscard]] std::unique_ptr<Driver> make_driver();

}  // namespace fermata::db::postgresql
