// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/odbc/driver.hpp>

int main() { return fermata::db::odbc::make_driver() != nullptr ? 0 : 1; }
