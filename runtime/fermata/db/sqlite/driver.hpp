// SPDX-License-Identifier: Apache-2.0
#pragma once

// SQLite, the database that is a file: sqlite:///relative/path or sqlite:////absolute/path.
//
// Options       busy_timeout  How long a command waits for the locks of others, in milliseconds;
//                             5000 if not said.
//               mode          ro, rw, rwc (if not said: the file is made when it is not there), or
//                             memory.
//               cache         shared or private.
//               transaction   deferred (if not said), immediate or exclusive: what begin() begins.
// In memory     Only shared, as sqlite:///file::memory:?cache=shared: otherwise each connection
//               would have a database of its own. It lives as long as the driver or a connection.
// Threads       Every command is work on other threads (io/offload.hpp), one at a time for each
//               connection. So is the end of a connection, which nobody waits for.
// Interrupts    A write in a transaction that is interrupted takes the transaction with it.
// Attributes    Are PRAGMAs.

#include <memory>

#include "fermata/db/driver.hpp"

namespace fermata::db::sqlite {

[[nodiscard]] std::unique_ptr<Driver> make_driver();

}  // namespace fermata::db::sqlite
