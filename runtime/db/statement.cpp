// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/db/statement.hpp"

#include "fermata/runtime/db/errors.hpp"

namespace fermata::db {

std::unique_ptr<Answer> Statement::start(Parameters parameters) {
  try {
    return session_->execute(*prepared_, parameters);
  } catch (const DatabaseError& error) {
    if (!session_->may_prepare_again(error)) throw;
  }
  prepared_.reset();
  prepared_ = session_->prepare_anew(sql_);
  return session_->execute(*prepared_, parameters);
}

}  // namespace fermata::db
