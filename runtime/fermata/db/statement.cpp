// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/statement.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/db/errors.hpp"

namespace fermata::db {

std::unique_ptr<Answer> Statement::start(Parameters parameters) {
  if (is_forgotten()) prepare_anew();
  try {
    return session_->execute(*prepared_, parameters);
  } catch (const DatabaseError& error) {
    if (!session_->may_prepare_again(error)) throw;
  }
  prepare_anew();
  return session_->execute(*prepared_, parameters);
}

void Statement::prepare_anew() {
  const std::uint64_t resets = session_->resets();
  prepared_ = session_->prepare_anew(sql_);
  FERMATA_ASSERT(prepared_ != nullptr);
  made_after_ = resets;
}

}  // namespace fermata::db
