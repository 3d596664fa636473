// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/pooled.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::db::detail {

std::unique_ptr<Prepared> StatementCache::take(std::string_view sql) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.sql == sql; });
  if (found == entries_.end()) return nullptr;
  std::unique_ptr<Prepared> prepared = std::move(found->prepared);
  entries_.erase(found);
  return prepared;
}

void StatementCache::put(std::string sql, std::unique_ptr<Prepared> prepared) {
  FERMATA_ASSERT(prepared != nullptr);
  if (limit_ == 0) return;
  entries_.push_front({std::move(sql), std::move(prepared)});
  if (entries_.size() > limit_) entries_.pop_back();
  FERMATA_ASSERT(entries_.size() <= limit_);
}

bool StatementCache::is_asked_again(std::string_view sql) {
  const auto found = std::find(asked_.begin(), asked_.end(), sql);
  if (found != asked_.end()) {
    asked_.erase(found);
    return true;
  }
  asked_.emplace_front(sql);
  if (asked_.size() > limit_) asked_.pop_back();
  return false;
}

}  // namespace fermata::db::detail
