// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/odbc/connection_string.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/error.hpp"

namespace fermata::db::odbc {

namespace {

// unixODBC has places of fixed size for paths, and counts in 16 bits.
constexpr std::size_t kLongestValue = 1000;
constexpr std::size_t kLongestString = 30'000;

bool same_name(std::string_view left, std::string_view right) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](char a, char b) { return small(a) == small(b); });
}

bool is_password(std::string_view name) {
  return same_name(name, "PWD") || same_name(name, "Password");
}

class StringBuilder {
 public:
  explicit StringBuilder(const Target& target) : target_(target) {}

  void add(std::string_view name, std::string_view value) {
    const auto is_plain = [](char c) { return c > ' ' && c != 127 && !special(c); };
    // Some names have spaces inside.
    const bool well_formed =
        !name.empty() && name.front() != ' ' && name.back() != ' ' &&
        std::all_of(name.begin(), name.end(), [&](char c) { return c == ' ' || is_plain(c); });
    if (!well_formed) fail("names of options without any of ;={}[]()?*!@");
    if (value.find('\0') != std::string_view::npos) {
      fail(fmt::format("no NUL in the value of {}", name));
    }
    if (value.size() > kLongestValue) {
      fail(fmt::format("at most {} bytes in the value of {}", kLongestValue, name));
    }
    text_ += fmt::format("{}={};", name, quoted_value(value));
  }

  [[nodiscard]] std::string take() {
    if (text_.empty()) fail("a data source name, or the option Driver");
    if (text_.size() > kLongestString) {
      fail(fmt::format("options of at most {} bytes together", kLongestString));
    }
    return std::move(text_);
  }

  [[noreturn]] void fail(std::string_view expected) const {
    throw UsageError(fmt::format("database \"{}\": expected {}", target_.text(), expected));
  }

 private:
  static bool special(char c) {
    return std::string_view(";={}[]()?*!@").find(c) != std::string_view::npos;
  }

  const Target& target_;
  std::string text_;
};

}  // namespace

std::string quoted_value(std::string_view value) {
  const bool plain = value.find_first_of(";{}") == std::string_view::npos &&
                     !value.starts_with(' ') && !value.ends_with(' ');
  if (plain) return std::string(value);
  std::string quoted = "{";
  for (const char c : value) {
    quoted += c;
    if (c == '}') quoted += c;
  }
  return quoted + '}';
}

std::string connection_string(const Target& target) {
  StringBuilder text(target);
  if (!target.host.empty() || target.port) {
    text.fail("no host: the data source or the options name it");
  }
  if (!target.database.empty()) text.add("DSN", target.database);
  for (const auto& [name, value] : target.options) text.add(name, value);
  if (!target.user.empty()) text.add("UID", target.user);
  if (!target.password.empty()) text.add("PWD", target.password);
  return text.take();
}

std::vector<std::string> passwords(const Target& target) {
  std::vector<std::string> found;
  if (!target.password.empty()) found.push_back(target.password);
  for (const auto& [name, value] : target.options) {
    if (is_password(name) && !value.empty()) found.push_back(value);
  }
  return found;
}

}  // namespace fermata::db::odbc
