// SPDX-License-Identifier: Apache-2.0
#include <fermata/db/database.hpp>
#include <fermata/db/drivers/factory.hpp>

int main() {
  for (const auto name : fermata::db::available_drivers()) {
    if (fermata::db::make_driver(name) == nullptr) return 1;
  }
  try {
    static_cast<void>(fermata::db::Database::connect("nonsense://bank"));
  } catch (const fermata::UsageError&) {
    return 0;
  }
  return 1;
}
