// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/errors.hpp"

#include <fmt/format.h>

namespace fermata::db {

DatabaseError::DatabaseError(std::string_view database, std::string_view sqlstate,
                             std::string_view message)
    : Linkable(fmt::format("database \"{}\": SQLSTATE {}: {}", database, sqlstate, message)),
      database_(database),
      sqlstate_(sqlstate) {}

}  // namespace fermata::db
