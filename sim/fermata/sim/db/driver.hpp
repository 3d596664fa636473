// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "fermata/db/driver.hpp"

namespace fermata::sim {

/// The driver for URLs sim://[USER[:PASSWORD]@]HOST:PORT/DATABASE of a DatabaseServer. It is as
/// careless as drivers of real databases are: a connection that was interrupted and not put in
/// order takes the answer that was left over for the one to its next command.
[[nodiscard]] std::unique_ptr<db::Driver> make_database_driver();

}  // namespace fermata::sim
