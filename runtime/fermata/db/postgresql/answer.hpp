// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/postgresql/cells.hpp"
#include "fermata/db/postgresql/link.hpp"

namespace fermata::db::postgresql {

/// The answer to the command that `link` has been sent. Its first result is there once it is made;
/// all of them, unless rows come one by one.
class LibpqAnswer final : public Answer {
 public:
  LibpqAnswer(Link& link, Fetch fetch);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept override {
    return decoder_.columns();
  }
  bool next(std::vector<Cell>& row) override;
  [[nodiscard]] const Effect& effect() const noexcept override;

 private:
  [[nodiscard]] ResultHandle first(Fetch fetch);
  void fetch_row();
  void keep(ResultHandle result);

  Link& link_;
  ResultHandle result_;
  Decoder decoder_;
  Effect effect_;
  int row_ = 0;  // The next one of the result.
  int rows_ = 0;
  bool one_by_one_ = false;  // There are results to come.
};

}  // namespace fermata::db::postgresql
