// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/db/driver.hpp"
#include "fermata/db/postgresql/link.hpp"

namespace fermata::db::postgresql {

class LibpqConnection final : public Connection {
 public:
  LibpqConnection(std::string database, ConnectionHandle handle)
      : link_(std::move(database), std::move(handle)) {}

  [[nodiscard]] std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                                Fetch fetch) override;
  [[nodiscard]] std::unique_ptr<Prepared> prepare(std::string_view sql) override;
  [[nodiscard]] std::unique_ptr<Prepared> prepare_like(std::string_view sql,
                                                       Parameters parameters) override;
  [[nodiscard]] bool is_stale_plan(std::string_view sqlstate) const noexcept override;
  [[nodiscard]] TransactionState transaction() const noexcept override;
  [[nodiscard]] bool is_broken() const noexcept override { return link_.is_broken(); }
  [[nodiscard]] bool looks_alive() noexcept override;
  void ping() override { run("SELECT 1"); }
  void reset_session() override;
  void set_attribute(std::string_view name, std::string_view value) override;
  void interrupt() override;

 private:
  class PreparedCommand;

  /// The text as libpq wants it. Throws ParameterError unless it has as many parameters.
  [[nodiscard]] std::string checked(std::string_view sql, std::size_t parameters) const;
  [[nodiscard]] std::unique_ptr<Prepared> prepare(const std::string& text, std::size_t count,
                                                  Parameters like);
  void forget_prepared();
  void cancel();
  [[nodiscard]] bool drained_within(Duration span);

  Link link_;
  std::uint64_t prepared_ = 0;  // So far.
  /// Names of prepared commands that nobody has any more.
  std::shared_ptr<std::deque<std::string>> forgotten_ = std::make_shared<std::deque<std::string>>();
};

}  // namespace fermata::db::postgresql
