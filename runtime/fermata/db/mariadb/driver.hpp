// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/db/driver.hpp"

namespace fermata::db::mariadb {

/// MariaDB and MySQL through Connector/C's calls that can be suspended; waits are the reactor's.
///
/// URL       mariadb://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE. Names are resolved by the runtime.
///           Options: connect_timeout (seconds, 10 unless told otherwise).
///           Connections are not encrypted: for networks that can be trusted.
/// Kinds     Integers, FLOAT and DOUBLE, bytes (BINARY, BLOB, BIT) come as what they are, all else
///           as text: DECIMAL and dates too, and unsigned integers that no std::int64_t holds.
///           There are no truth values: they come back as integers.
/// Commands  With parameters they are prepared at the server for the one time. The character set is
///           utf8mb4. LOAD DATA LOCAL is refused.
/// Effects   affected_rows counts the rows that an UPDATE finds, changed or not.
[[nodiscard]] std::unique_ptr<Driver> make_driver();

}  // namespace fermata::db::mariadb
