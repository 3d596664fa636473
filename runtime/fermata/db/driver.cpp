// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/driver.hpp"

namespace fermata::db {

std::unique_ptr<Prepared> Connection::prepare_like(std::string_view, Parameters) { return nullptr; }

Effect Connection::run(std::string_view sql) {
  const std::unique_ptr<Answer> answer = execute(sql, {}, Fetch::All);
  std::vector<Cell> row;
  while (answer->next(row)) {
  }
  return answer->effect();
}

void Connection::begin() { run("BEGIN"); }

void Connection::commit() { run("COMMIT"); }

void Connection::rollback() { run("ROLLBACK"); }

}  // namespace fermata::db
