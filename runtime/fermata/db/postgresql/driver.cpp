// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/postgresql/driver.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/db/postgresql/connection.hpp"
#include "fermata/io/dns.hpp"

namespace fermata::db::postgresql {

namespace {

constexpr std::array<std::string_view, 15> kOptions = {"connect_timeout",
                                                       "sslmode",
                                                       "sslrootcert",
                                                       "sslcert",
                                                       "sslkey",
                                                       "application_name",
                                                       "options",
                                                       "target_session_attrs",
                                                       "channel_binding",
                                                       "gssencmode",
                                                       "keepalives",
                                                       "keepalives_idle",
                                                       "keepalives_interval",
                                                       "keepalives_count",
                                                       "tcp_user_timeout"};

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

bool is_folder(std::string_view host) { return host.empty() || host.starts_with('/'); }

bool is_number(std::string_view host) {
  return host.find(':') != std::string_view::npos ||
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

Duration left_until(Instant deadline) { return std::max(Duration::zero(), deadline - now()); }

/// What libpq is told, as it calls it.
class Settings {
 public:
  /// Resolves the host's name; throws Timeout at `deadline`.
  Settings(Target target, Instant deadline) {
    add("user", std::move(target.user));
    add("password", std::move(target.password));
    add("dbname", std::move(target.database));
    if (target.port) add("port", fmt::to_string(*target.port));
    add("client_encoding", "UTF8");
    for (auto& [name, value] : target.options) {
      if (name != "connect_timeout") add(std::move(name), std::move(value));
    }
    add_host(target.host, deadline);
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

  // libpq would block on a name, and takes for one what is nearly a number. It takes as many hosts
  // as addresses.
  void add_host(const std::string& host, Instant deadline) {
    std::vector<std::string> addresses;
    if (is_folder(host)) return add("host", host);
    if (is_number(host)) {
      addresses.push_back(host);
    } else {
      for (const Address& address : resolve(host, {}, {.timeout = left_until(deadline)})) {
        addresses.push_back(address.ip_text());
      }
    }
    const std::vector<std::string_view> hosts(addresses.size(), host);
    add("host", fmt::format("{}", fmt::join(hosts, ",")));
    add("hostaddr", fmt::format("{}", fmt::join(addresses, ",")));
  }

  std::vector<std::pair<std::string, std::string>> settings_;
};

/// Why no connection came about.
struct Refusal {
  std::string state{sqlstate::kCannotConnect};
  std::string message;
};

bool is_state(std::string_view text) {
  return text.size() == 5 &&
         text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string_view::npos;
}

/// Whether `line` says where in its source the server was: "...: auth_failed, auth.c:326".
bool is_source_place(std::string_view line) {
  const std::size_t end = line.find_last_not_of("0123456789") + 1;
  return end < line.size() && line.substr(0, end).ends_with(".c:");
}

// libpq tells an SQLSTATE in its text only, and there only when it is told to be verbose: behind
// the severity, as in "FATAL:  28P01: ...", whatever the language.
Refusal refusal_of(PGconn* connection) {
  if (connection == nullptr) return {.message = "out of memory"};
  Refusal refusal;
  if (PQconnectionNeedsPassword(connection) != 0) refusal.state = "28P01";
  std::string_view rest = PQerrorMessage(connection);
  while (!rest.empty()) {
    std::string line(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    for (std::size_t at = 0; (at = line.find(":  ", at)) != std::string::npos; ++at) {
      const std::string_view after = std::string_view(line).substr(at + 3);
      if (after.size() < 7 || !is_state(after.substr(0, 5)) || after.substr(5, 2) != ": ") continue;
      refusal.state = after.substr(0, 5);
      line.erase(at + 3, 7);
    }
    if (line.empty() || is_source_place(line)) continue;
    if (!refusal.message.empty()) refusal.message += '\n';
    refusal.message += line;
  }
  return refusal;
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
    const auto fail = [&](const Refusal& refusal) {
      throw ConnectError(database, refusal.state, refusal.message);
    };
    const int limit = connect_timeout(target);
    const Instant deadline = now() + std::chrono::seconds(limit);
    ConnectionHandle handle;
    try {
      handle = Settings(std::move(target), deadline).start();
      finish(handle.get(), deadline);
    } catch (const DnsError& error) {
      fail({.message = error.what()});
    } catch (const PollError& error) {
      fail({.message = error.what()});
    } catch (const Timeout&) {
      fail({.message = fmt::format("no answer within {} s", limit)});
    }
    if (PQstatus(handle.get()) != CONNECTION_OK) fail(refusal_of(handle.get()));
    PQsetErrorVerbosity(handle.get(), PQERRORS_DEFAULT);
    PQsetnonblocking(handle.get(), 1);
    return std::make_unique<LibpqConnection>(database, std::move(handle));
  }

 private:
  // Until it is connected, or cannot be. Each step may have another socket. libpq blocks when it is
  // told too early that it can go on, so a false alarm must not reach it.
  static void finish(PGconn* connection, Instant deadline) {
    if (PQstatus(connection) == CONNECTION_BAD) return;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    PQsetNoticeReceiver(
        connection, [](void*, const PGresult*) {}, nullptr);
    PostgresPollingStatusType step = PGRES_POLLING_WRITING;
    while (step == PGRES_POLLING_READING || step == PGRES_POLLING_WRITING) {
      {
        const bool reads = step == PGRES_POLLING_READING;
        const PollMask mask = reads ? PollMask::Readable : PollMask::Writable;
        pollfd look = {PQsocket(connection), static_cast<short>(reads ? POLLIN : POLLOUT), 0};
        Descriptor socket(look.fd);
        do {
          socket.wait(mask, {.timeout = left_until(deadline)});
        } while (::poll(&look, 1, 0) == 0);
        socket.close();
      }
      step = PQconnectPoll(connection);
    }
  }
};

}  // namespace

std::unique_ptr<Driver> make_driver() { return std::make_unique<LibpqDriver>(); }

}  // namespace fermata::db::postgresql
