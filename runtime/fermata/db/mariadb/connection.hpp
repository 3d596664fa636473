// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "fermata/db/driver.hpp"
#include "fermata/db/mariadb/link.hpp"

namespace fermata::db::mariadb {

class MariaConnection final : public Connection {
 public:
  /// `connect` makes another link to the same server, by `deadline`.
  using Connect = std::function<std::unique_ptr<Link>(Instant deadline)>;
  /// Asks the server what has to be known of it.
  MariaConnection(std::unique_ptr<Link> link, Connect connect, std::string schema);

  [[nodiscard]] std::unique_ptr<Answer> execute(std::string_view sql, Parameters parameters,
                                                Fetch fetch) override;
  [[nodiscard]] std::unique_ptr<Prepared> prepare(std::string_view sql) override;
  [[nodiscard]] bool is_stale_plan(std::string_view sqlstate) const noexcept override;
  [[nodiscard]] TransactionState transaction() const noexcept override;
  [[nodiscard]] bool is_broken() const noexcept override { return link_->is_broken(); }
  [[nodiscard]] bool looks_alive() noexcept override;
  void ping() override { run("DO 0"); }
  void reset_session() override;
  void set_attribute(std::string_view name, std::string_view value) override;
  void interrupt() override;

 private:
  [[nodiscard]] bool drained_within(Duration span);
  void kill(Instant deadline);

  std::unique_ptr<Link> link_;
  Connect connect_;
  std::string schema_;
  std::size_t packet_max_ = 0;  // Bytes.
};

}  // namespace fermata::db::mariadb
