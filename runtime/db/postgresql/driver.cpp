// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/db/postgresql/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "fermata/runtime/base/error.hpp"
#include "fermata/runtime/core/suspend.hpp"
#include "fermata/runtime/db/errors.hpp"
#include "fermata/runtime/db/postgresql/connection.hpp"
#include "fermata/runtime/io/dns.hpp"

namespace fermata::db::postgresql {

namespace {

constexpr std::array<std::string_view, 10> kOptions = {
    "connect_timeout",  "sslmode", "sslrootcert",          "sslcert",         "sslkey",
    "application_name", "options", "target_session_attrs", "channel_binding", "gssencmode"};

/// Seconds.
int connect_timeout(const Target& target) {
  const std::string* const text = target.option("connect_timeout");
  if (text == nullptr) return 10;
  int seconds = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, seconds);
  if (error == std::errc() && stopped == end && seconds >= 1 && seconds <= 3'600) return seconds;
  throw UsageError(fmt::format(
      "database \"{}\": connect_timeout \"{}\": expected 1 to 3600 seconds", target.text(), *text));
}

bool is_name(std::string_view host) {
  return !host.empty() && !host.starts_with('/') && host.find(':') == std::string_view::npos &&
         host.find_first_not_of("0123456789.") != std::string_view::npos;
}

/// What libpq is told, as it calls it.
class Settings {
 public:
  explicit Settings(Target target) {
    add("user", std::move(target.user));
    add("password", std::move(target.password));
    add("dbname", std::move(target.database));
    if (target.port) add("port", fmt::to_string(*target.port));
    add("client_encoding", "UTF8");
    for (auto& [name, value] : target.options) {
      if (name != "connect_timeout") add(std::move(name), std::move(value));
    }
    add_host(target.host);
  }

  [[nodiscard]] ConnectionHandle start() const {
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : settings_) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    return ConnectionHandle(PQconnectStartParams(names.data(), values.data(), 0));
  }

 private:
  void add(std::string name, std::string value) {
    if (!value.empty()) settings_.emplace_back(std::move(name), std::move(value));
  }

  // libpq would block on a name. It takes as many hosts as addresses.
  void add_host(const std::string& host) {
    if (!is_name(host)) return add("host", host);
    std::vector<std::string> addresses;
    for (const Address& address : resolve(host)) addresses.push_back(address.ip_text());
    const std::vector<std::string_view> hosts(addresses.size(), host);
    add("host", fmt::format("{}", fmt::join(hosts, ",")));
    add("hostaddr", fmt::format("{}", fmt::join(addresses, ",")));
  }

  std::vector<std::pair<std::string, std::string>> settings_;
};

std::string_view state_of(std::string_view message) {
  const auto says = [&](std::string_view part) {
    return message.find(part) != std::string_view::npos;
  };
  if (says("password authentication failed") || says("no password supplied")) return "28P01";
  if (says("database") && says("does not exist")) return "3D000";
  if (says("too many clients") || says("connection slots are reserved")) return "53300";
  return sqlstate::kCannotConnect;
}

class LibpqDriver final : public Driver {
 public:
  void check(const Target& target) const override {
    for (const auto& [name, value] : target.options) {
      if (std::find(kOptions.begin(), kOptions.end(), name) != kOptions.end()) continue;
      throw UsageError(fmt::format("database \"{}\": option \"{}\": expected one of {}",
                                   target.text(), name, fmt::join(kOptions, ", ")));
    }
    static_cast<void>(connect_timeout(target));
    if (target.database.empty()) {
      throw UsageError(fmt::format(
          "database \"{}\": expected the name of a database after the host", target.text()));
    }
  }

  [[nodiscard]] std::unique_ptr<Connection> connect(Target target) override {
    const std::string database = target.text();
    const auto fail = [&](std::string_view message) {
      throw ConnectError(database, state_of(message), message);
    };
    const int limit = connect_timeout(target);
    const Instant deadline = now() + std::chrono::seconds(limit);
    ConnectionHandle handle;
    try {
      handle = Settings(std::move(target)).start();
      finish(handle, deadline);
    } catch (const DnsError& error) {
      fail(error.what());
    } catch (const PollError& error) {
      fail(error.what());
    } catch (const Timeout&) {
      fail(fmt::format("no answer within {} s", limit));
    }
    if (handle == nullptr || PQstatus(handle.get()) != CONNECTION_OK) {
      std::string message = handle != nullptr ? PQerrorMessage(handle.get()) : "out of memory";
      message.erase(message.find_last_not_of(" \n") + 1);
      fail(message);
    }
    PQsetnonblocking(handle.get(), 1);
    PQsetNoticeReceiver(
        handle.get(), [](void*, const PGresult*) {}, nullptr);
    return std::make_unique<LibpqConnection>(database, std::move(handle));
  }

 private:
  // Until it is connected, or cannot be. Each step may have another socket.
  static void finish(const ConnectionHandle& handle, Instant deadline) {
    if (handle == nullptr || PQstatus(handle.get()) == CONNECTION_BAD) return;
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    while (step == PGRES_POLLING_READING || step == PGRES_POLLING_WRITING) {
      {
        Descriptor socket(PQsocket(handle.get()));
        const PollMask mask =
            step == PGRES_POLLING_READING ? PollMask::Readable : PollMask::Writable;
        socket.wait(mask, {.timeout = std::max(Duration::zero(), deadline - now())});
        socket.close();
      }
      step = PQconnectPoll(handle.get());
    }
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<LibpqDriver>(); }

}  // namespace fermata::db::postgresql
