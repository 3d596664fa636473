// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/db/driver.hpp"
#include "fermata/db/mariadb/cells.hpp"
#include "fermata/db/mariadb/link.hpp"
#include "fermata/db/placeholders.hpp"

namespace fermata::db::mariadb {

/// A command that the server has prepared.
class PreparedCommand final : public Prepared {
 public:
  /// `packet_max`: bytes that the server takes at once.
  PreparedCommand(Link& link, std::string_view sql, std::size_t packet_max);
  PreparedCommand(const PreparedCommand&) = delete;
  PreparedCommand& operator=(const PreparedCommand&) = delete;
  ~PreparedCommand() override;

  [[nodiscard]] std::size_t parameter_count() const noexcept override {
    return placeholders_.count;
  }
  [[nodiscard]] std::unique_ptr<Answer> execute(Parameters parameters) override {
    return execute(parameters, Fetch::All);
  }
  [[nodiscard]] std::unique_ptr<Answer> execute(Parameters parameters, Fetch fetch);

 private:
  class Rows;

  Link& link_;
  Placeholders placeholders_;
  std::size_t packet_max_;
  MYSQL_STMT* statement_;
};

/// Throws ParameterError unless `sql` has no NUL and `given` parameters.
void require_parameters(const std::string& database, std::string_view sql, std::size_t given,
                        std::size_t expected);

}  // namespace fermata::db::mariadb
