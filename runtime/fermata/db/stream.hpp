// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/db/reader.hpp"
#include "fermata/sync/within.hpp"

namespace fermata::db {

/// Rows as they are read: no more than a few are in memory, and the server goes no faster than the
/// program. Its connection is busy until the last row was read or the stream is gone.
template <class Row = Values>
class Stream {
 public:
  explicit Stream(detail::Reader reader) noexcept : reader_(std::move(reader)) {}

  /// Nothing after the last row. Suspends. Throws as a query; ColumnError, and the stream goes on.
  [[nodiscard]] std::optional<Row> next(const WaitOptions& options = {}) {
    if (!within(options, [&] { return reader_.next(); })) return std::nullopt;
    return reader_.template row<Row>();
  }
  /// The names of the columns, until the last row was read.
  [[nodiscard]] std::vector<std::string> columns() const { return reader_.columns(); }

 private:
  detail::Reader reader_;
};

}  // namespace fermata::db
