// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/database.hpp>

int main() { return fermata::db::parse_url("sqlite:///bank").database == "bank" ? 0 : 1; }
