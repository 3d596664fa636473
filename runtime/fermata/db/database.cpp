// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/database.hpp"

#include "fermata/db/errors.hpp"

namespace fermata::db {

detail::Reader Database::start(std::string_view sql, Parameters parameters, Fetch fetch) {
  std::shared_ptr<detail::Session> session = core_->session();
  auto answer = session->execute(sql, parameters, fetch);
  return {std::move(session), std::move(answer)};
}

std::shared_ptr<detail::Session> Database::require_transaction() const {
  std::shared_ptr<detail::Session> session = core_->peek();
  if (session != nullptr) return session;
  throw TransactionError(core_->text(), sqlstate::kNoActiveTransaction,
                         "There is no active transaction");
}

}  // namespace fermata::db
