// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace fermata::db::odbc {

enum class TransactionStep : std::uint8_t { None, Begin, Commit, Rollback };

/// What a command does to transactions, as far as its words tell.
struct TransactionWords {
  TransactionStep step = TransactionStep::None;  // The last one.
  bool alone = true;                             // Nothing else is in the command.
  bool returns_to_savepoint = false;
};

[[nodiscard]] TransactionWords transaction_words(std::string_view sql);

/// Whether `sql` begins with what changes rows: INSERT, UPDATE, DELETE and the like.
[[nodiscard]] bool changes_rows(std::string_view sql);

}  // namespace fermata::db::odbc
