// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/mariadb/cells.hpp"
#include "fermata/db/mariadb/link.hpp"

namespace fermata::db::mariadb {

/// The answer to the text that `link` has sent.
class TextAnswer final : public Answer {
 public:
  TextAnswer(Link& link, Fetch fetch);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return columns_.names();
  }
  bool next(std::vector<Cell>& row) override;
  [[nodiscard]] const Effect& effect() const noexcept override;

 private:
  struct FreeRows {
    void operator()(MYSQL_RES* rows) const noexcept { mysql_free_result(rows); }
  };

  [[nodiscard]] MYSQL_ROW fetch();
  void end();

  Link& link_;
  std::unique_ptr<MYSQL_RES, FreeRows> stored_;  // All of them; null when they come one by one.
  MYSQL_RES* rows_;                              // Null when there are none, or no more.
  Columns columns_;
  bool read_ = false;  // To the last row.
  Effect effect_;
};

/// The effect (rows changed, last id) of the last command sent as text, or of `statement`.
[[nodiscard]] Effect effect_of(MYSQL* connection, MYSQL_STMT* statement);

}  // namespace fermata::db::mariadb
