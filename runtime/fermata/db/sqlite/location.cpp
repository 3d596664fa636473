// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/sqlite/location.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <charconv>
#include <cstdint>
#include <string_view>

#include "fermata/base/error.hpp"

namespace fermata::db::sqlite {

namespace {

constexpr std::string_view kPrivateMemory = ":memory:";

class Locator {
 public:
  explicit Locator(const Target& target) : target_(target) { location_.text = target.text(); }

  Location locate() {
    if (!target_.host.empty() || target_.port || !target_.user.empty() ||
        !target_.password.empty()) {
      fail(
          "three slashes before a relative path, four before an absolute one, and no host or user");
    }
    std::string_view name = target_.database;
    if (name.starts_with("file:")) name.remove_prefix(5);
    if (name.empty()) fail("the path of a file");
    location_.in_memory = name == kPrivateMemory;
    location_.flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    for (const auto& [option, value] : target_.options) read(option, value);
    location_.flags |= SQLITE_OPEN_NOMUTEX;
    if (location_.in_memory) {
      if (!shared_) {
        fail("the option cache=shared for one in memory: each connection would have its own");
      }
      location_.name = memory_uri(name);
      location_.flags |= SQLITE_OPEN_URI;
    } else {
      if (name.find('?') != std::string_view::npos && name.size() != target_.database.size()) {
        fail("options after an unencoded question mark");
      }
      // With a folder before it no name is one that SQLite has plans for.
      location_.name = (name.front() == '/' ? "" : "./") + std::string(name);
    }
    return std::move(location_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw UsageError(fmt::format("database \"{}\": expected {}", location_.text, expected));
  }

  void read(std::string_view option, std::string_view value) {
    if (option == "busy_timeout") return read_busy_timeout(value);
    if (option == "mode") return read_mode(value);
    if (option == "cache") {
      if (value != "shared" && value != "private") fail("the option cache to be shared or private");
      shared_ = value == "shared";
      location_.flags &= ~(SQLITE_OPEN_SHAREDCACHE | SQLITE_OPEN_PRIVATECACHE);
      location_.flags |= shared_ ? SQLITE_OPEN_SHAREDCACHE : SQLITE_OPEN_PRIVATECACHE;
      return;
    }
    if (option == "transaction") {
      if (value != "deferred" && value != "immediate" && value != "exclusive") {
        fail("the option transaction to be deferred, immediate or exclusive");
      }
      location_.begin = fmt::format("BEGIN {}", value);
      return;
    }
    fail(fmt::format("no option {}: there are busy_timeout, mode, cache and transaction", option));
  }

  void read_busy_timeout(std::string_view value) {
    std::uint32_t milliseconds = 0;
    const char* const end = value.data() + value.size();
    const auto [stopped, error] = std::from_chars(value.data(), end, milliseconds);
    if (error != std::errc() || stopped != end) fail("the option busy_timeout in milliseconds");
    location_.busy_timeout = std::chrono::milliseconds(milliseconds);
  }

  void read_mode(std::string_view value) {
    location_.flags &= ~(SQLITE_OPEN_READONLY | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (value == "ro") {
      location_.flags |= SQLITE_OPEN_READONLY;
    } else if (value == "rw") {
      location_.flags |= SQLITE_OPEN_READWRITE;
    } else if (value == "rwc" || value == "memory") {
      location_.flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      if (value == "memory") location_.in_memory = true;
    } else {
      fail("the option mode to be ro, rw, rwc or memory");
    }
  }

  static std::string memory_uri(std::string_view name) {
    if (name == kPrivateMemory) return "file::memory:?cache=shared";
    std::string uri = "file:";
    for (const char c : name) uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    return uri + "?mode=memory&cache=shared";
  }

  const Target& target_;
  Location location_;
  bool shared_ = false;
};

}  // namespace

Location locate(const Target& target) { return Locator(target).locate(); }

}  // namespace fermata::db::sqlite
