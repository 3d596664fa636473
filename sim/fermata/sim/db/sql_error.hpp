// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::sim::sql {

/// The simulated database refuses a command; the session is in order.
class SqlError : public Linkable<SqlError> {
 public:
  SqlError(std::string_view sqlstate, const std::string& message)
      : Linkable(message), sqlstate_(sqlstate) {}
  [[nodiscard]] const std::string& sqlstate() const noexcept { return sqlstate_; }

 private:
  std::string sqlstate_;
};

}  // namespace fermata::sim::sql
