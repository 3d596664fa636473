// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/postgresql/driver.hpp>

int main() { return fermata::db::postgresql::make_driver() != nullptr ? 0 : 1; }
