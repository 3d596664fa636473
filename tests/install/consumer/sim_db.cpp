// SPDX-License-Identifier: Apache-2.0
#include <fermata/sim/db/driver.hpp>
#include <fermata/sim/db/server.hpp>

int main() { return fermata::sim::make_database_driver() != nullptr ? 0 : 1; }
