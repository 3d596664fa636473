// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/sqlite/driver.hpp>

int main() { return fermata::db::sqlite::make_driver() != nullptr ? 0 : 1; }
