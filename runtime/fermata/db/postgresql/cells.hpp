// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <libpq-fe.h>

#include <string>
#include <vector>

#include "fermata/db/value.hpp"

namespace fermata::db::postgresql {

/// Parameters as libpq takes them. Refers to the cells that it is made of.
class Arguments {
 public:
  /// Throws ParameterError for a text with a NUL, and for more parameters than a command may have.
  Arguments(const std::string& database, Parameters parameters);

  [[nodiscard]] int count() const noexcept { return static_cast<int>(types_.size()); }
  [[nodiscard]] const Oid* types() const noexcept { return types_.data(); }
  [[nodiscard]] const char* const* values() const noexcept { return values_.data(); }
  [[nodiscard]] const int* lengths() const noexcept { return lengths_.data(); }
  [[nodiscard]] const int* formats() const noexcept { return formats_.data(); }

 private:
  void add(const Cell& cell);

  std::vector<std::string> texts_;  // Never moved: as many as there are parameters are reserved.
  std::vector<Oid> types_;
  std::vector<const char*> values_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

/// Makes cells of results.
class Decoder {
 public:
  explicit Decoder(const PGresult& result);

  [[nodiscard]] const std::vector<std::string>& columns() const noexcept { return names_; }
  /// What the cells refer to is in `result`, or here until the next call.
  void decode(const PGresult& result, int row, std::vector<Cell>& cells);

 private:
  std::vector<std::string> names_;
  std::vector<Oid> types_;
  std::vector<Bytes> bytes_;  // By column.
};

}  // namespace fermata::db::postgresql
