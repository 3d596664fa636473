// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "fermata/db/driver.hpp"
#include "fermata/db/sqlite/handle.hpp"

namespace fermata::db::sqlite {

class SqliteConnection final : public Connection {
 public:
  explicit SqliteConnection(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;
  ~SqliteConnection() override;

  [[nodiscard]] std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                                Fetch fetch) override;
  [[nodiscard]] std::unique_ptr<Prepared> prepare(std::string_view sql) override;
  [[nodiscard]] bool is_stale_plan(std::string_view sqlstate) const noexcept override;
  void begin() override { run(handle_->location().begin); }
  [[nodiscard]] TransactionState transaction() const noexcept override {
    return handle_->transaction();
  }
  [[nodiscard]] bool is_broken() const noexcept override { return handle_->broken; }
  [[nodiscard]] bool looks_alive() noexcept override;
  void ping() override { run("SELECT 1"); }
  void reset_session() override;
  void set_attribute(std::string_view name, std::string_view value) override;
  void interrupt() override;

 private:
  std::shared_ptr<Handle> handle_;
};

}  // namespace fermata::db::sqlite
