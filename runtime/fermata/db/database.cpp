// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/database.hpp"

#include <fmt/format.h>

#include "fermata/base/assert.hpp"

#include "fermata/db/errors.hpp"

namespace fermata::db {

void detail::require_open(const std::shared_ptr<Session>& session, const char* operation,
                          const char* what) {
  if (session != nullptr) return;
  throw UsageError(fmt::format("{}: the {} has ended: expected an open one", operation, what));
}

detail::Reader Database::start(std::string_view sql, Parameters parameters, Fetch fetch) {
  std::shared_ptr<detail::Session> session = core_->session();
  FERMATA_ASSERT(session != nullptr);
  auto answer = session->execute(sql, parameters, fetch);
  FERMATA_ASSERT(answer != nullptr);
  return {std::move(session), std::move(answer)};
}

std::shared_ptr<detail::Session> Database::require_transaction() const {
  std::shared_ptr<detail::Session> session = core_->peek();
  if (session != nullptr) return session;
  throw TransactionError(core_->text(), sqlstate::kNoActiveTransaction,
                         "There is no active transaction");
}

}  // namespace fermata::db
