// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/mariadb/driver.hpp>

int main() { return fermata::db::mariadb::make_driver() != nullptr ? 0 : 1; }
