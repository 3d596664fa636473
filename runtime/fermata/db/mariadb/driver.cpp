// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/mariadb/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <string>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/mariadb/connection.hpp"
#include "fermata/io/dns.hpp"

namespace fermata::db::mariadb {

namespace {

constexpr std::uint16_t kPort = 3306;

std::chrono::seconds connect_limit(const Target& target) {
  const std::string* const text = target.option("connect_timeout");
  if (text == nullptr) return std::chrono::seconds(10);
  int seconds = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, seconds);
  if (error == std::errc() && stopped == end && seconds >= 1 && seconds <= 3'600) {
    return std::chrono::seconds(seconds);
  }
  throw UsageError(fmt::format(
      "database \"{}\": connect_timeout \"{}\": expected 1 to 3600 seconds", target.text(), *text));
}

std::string address_of(const std::string& host) {
  if (host.empty()) return "127.0.0.1";
  const bool is_number = host.find(':') != std::string::npos ||
                         host.find_first_not_of("0123456789.") == std::string::npos;
  return is_number ? host : resolve(host).front().ip_text();
}

/// A link to `address`. Throws ConnectError.
std::unique_ptr<Link> link_to(const Target& target, const std::string& address, Instant deadline) {
  auto link = std::make_unique<Link>(target.text());
  MYSQL* const handle = link->get();
  mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const unsigned no = 0;
  mysql_options(handle, MYSQL_OPT_LOCAL_INFILE, &no);
  link->limit(deadline);
  const auto fail = [&](std::string_view state, std::string_view message) {
    throw ConnectError(target.text(), state, message);
  };
  MYSQL* connected = nullptr;
  try {
    connected = link->drive<MYSQL*>(
        [&](MYSQL** result) {
          return mysql_real_connect_start(
              result, handle, address.c_str(), target.user.c_str(), target.password.c_str(),
              target.database.empty() ? nullptr : target.database.c_str(),
              target.port.value_or(kPort), nullptr, CLIENT_FOUND_ROWS);
        },
        [handle](MYSQL** result, int status) {
          return mysql_real_connect_cont(result, handle, status);
        });
  } catch (const Timeout&) {
    fail(sqlstate::kCannotConnect, "no answer in time");
  } catch (const PollError& error) {
    fail(sqlstate::kCannotConnect, error.what());
  }
  if (connected == nullptr) {
    const std::string state = mysql_sqlstate(handle);
    fail(state == "HY000" || state == "00000" ? sqlstate::kCannotConnect : state,
         mysql_error(handle));
  }
  link->limit(std::nullopt);
  return link;
}

class MariaDriver final : public Driver {
 public:
  void check(const Target& target) const override {
    for (const auto& [name, value] : target.options) {
      if (name == "connect_timeout") continue;
      throw UsageError(fmt::format("database \"{}\": option \"{}\": expected connect_timeout",
                                   target.text(), name));
    }
    static_cast<void>(connect_limit(target));
    if (target.database.empty()) {
      throw UsageError(fmt::format(
          "database \"{}\": expected the name of a database after the host", target.text()));
    }
  }

  [[nodiscard]] std::unique_ptr<Connection> connect(Target target) override {
    const Instant deadline = now() + connect_limit(target);
    std::string address;
    try {
      address = address_of(target.host);
    } catch (const DnsError& error) {
      throw ConnectError(target.text(), sqlstate::kCannotConnect, error.what());
    }
    auto link = link_to(target, address, deadline);
    std::string schema = target.database;
    return std::make_unique<MariaConnection>(
        std::move(link),
        [target = std::move(target), address](Instant by) { return link_to(target, address, by); },
        std::move(schema));
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() {
  static std::once_flag begun;
  std::call_once(begun, [] { mysql_library_init(0, nullptr, nullptr); });
  return std::make_unique<MariaDriver>();
}

}  // namespace fermata::db::mariadb
