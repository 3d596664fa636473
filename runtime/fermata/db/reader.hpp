// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fermata/db/convert.hpp"
#include "fermata/db/session.hpp"

namespace fermata::db::detail {

/// Reads one answer; what is left of it at its end is dropped, in the background.
class Reader {
 public:
  Reader(std::shared_ptr<Session> session, std::unique_ptr<Answer> answer) noexcept
      : session_(std::move(session)), answer_(std::move(answer)) {}
  Reader(Reader&&) noexcept = default;
  Reader& operator=(Reader&&) = delete;
  ~Reader() { drop(); }

  /// False after the last row.
  bool next() {
    if (answer_ == nullptr) return false;
    try {
      if (session_->next(*answer_, row_)) return true;
    } catch (...) {
      answer_.reset();
      throw;
    }
    effect_ = answer_->effect();
    answer_.reset();
    session_->end_answer();
    return false;
  }
  void drop() noexcept {
    if (answer_ == nullptr) return;
    answer_.reset();
    session_->abandon_answer();
  }

  template <class Row>
  [[nodiscard]] Row row() const {
    return to_row<Row>({&session_->database(), &answer_->columns()}, row_);
  }
  [[nodiscard]] std::vector<std::string> columns() const {
    return answer_ != nullptr ? answer_->columns() : std::vector<std::string>();
  }
  /// Valid once next() has returned false.
  [[nodiscard]] const Effect& effect() const noexcept { return effect_; }

  template <class Row>
  [[nodiscard]] std::vector<Row> all() {
    std::vector<Row> rows;
    while (next()) rows.push_back(row<Row>());
    return rows;
  }
  Effect skip() {
    while (next()) {
    }
    return effect_;
  }
  /// Throws ColumnError unless there is exactly one.
  template <class Row>
  [[nodiscard]] Row one() {
    if (!next()) throw_bad_count(session_->database(), "none");
    Row only = row<Row>();
    if (next()) throw_bad_count(session_->database(), "more");
    return only;
  }

 private:
  std::shared_ptr<Session> session_;
  std::unique_ptr<Answer> answer_;
  std::vector<Cell> row_;
  Effect effect_;
};

}  // namespace fermata::db::detail
