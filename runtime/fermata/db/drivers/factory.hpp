// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "fermata/db/driver.hpp"

namespace fermata::db {

/// The driver for URLs of `scheme`: sqlite, postgresql (or postgres), mariadb (or mysql), odbc, as
/// far as their libraries were there when this was built. Throws UsageError, which names those that
/// there are.
[[nodiscard]] std::unique_ptr<Driver> make_driver(std::string_view scheme);

/// The schemes that make_driver knows, each under its first name.
[[nodiscard]] std::vector<std::string_view> available_drivers();

}  // namespace fermata::db
