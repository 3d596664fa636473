// SPDX-License-Identifier: Apache-2.0
#include "fermata/db/target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "fermata/base/error.hpp"

namespace fermata::db {

namespace {

/// Everything up to `mark`, which goes too; all of `text` when it is not there.
std::string_view take_until(std::string_view& text, char mark) {
  const std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

/// `text` without what stands between the first colon and the last @.
std::string masked(std::string_view text) {
  const std::size_t at = text.rfind('@');
  const std::size_t colon = text.find(':');
  if (at == std::string_view::npos || colon > at) return std::string(text);
  return fmt::format("{}:***{}", text.substr(0, colon), text.substr(at));
}

bool is_scheme(std::string_view text) noexcept {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

bool is_port(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `url` as it may be shown, without options and password, whatever else is wrong with it: where it
/// is not clear what is the password less is shown.
std::string without_password(std::string_view url) {
  std::string shown;
  if (const std::size_t end = url.find("://");
      end != std::string_view::npos && is_scheme(url.substr(0, end))) {
    shown = url.substr(0, end + 3);
    url.remove_prefix(end + 3);
  }
  const std::size_t option = url.find('?');
  const std::size_t at = url.rfind('@');
  if (at != std::string_view::npos) {
    // A ? before it is the password's, or it is an option's.
    if (option < at) return shown + std::string(url.substr(0, url.find_first_of(":@?"))) + "***";
    return shown + masked(url.substr(0, option));
  }
  url = url.substr(0, option);
  const std::string_view authority = url.substr(0, url.find('/'));
  const std::size_t colon = authority.find(':');
  if (colon != std::string_view::npos && !authority.starts_with('[') &&
      !is_port(authority.substr(colon + 1))) {
    return shown + std::string(url.substr(0, colon)) + ":***";
  }
  return shown + std::string(url);
}

class Parser {
 public:
  explicit Parser(std::string_view url) : url_(url) {}

  Target parse() {
    std::string_view rest = url_;
    if (url_.find('\0') != std::string_view::npos) fail("no NUL");
    const std::size_t end = rest.find("://");
    if (end == std::string_view::npos || !is_scheme(rest.substr(0, end))) {
      fail("a scheme, as postgresql://");
    }
    target_.scheme = rest.substr(0, end);
    rest.remove_prefix(end + 3);

    std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
    rest.remove_prefix(authority.size());
    if (!authority.empty() && rest.substr(0, rest.find('?')).find('@') != std::string_view::npos) {
      fail("%2F for a / in the user or password, and %40 for an @ in the database");
    }
    if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
      std::string_view who = authority.substr(0, at);
      target_.user = decode(take_until(who, ':'));
      target_.password = decode(who);
      authority.remove_prefix(at + 1);
    }
    parse_host(authority);
    if (rest.starts_with('/')) rest.remove_prefix(1);
    target_.database = decode(take_until(rest, '?'));
    while (!rest.empty()) {
      std::string_view option = take_until(rest, '&');
      const bool has_value = option.find('=') != std::string_view::npos;
      std::string name = decode(take_until(option, '='));
      if (name.empty() || !has_value) fail("options of the form name=value");
      target_.options.emplace_back(std::move(name), decode(option));
    }
    return std::move(target_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    throw UsageError(
        fmt::format("database URL \"{}\": expected {}", without_password(url_), expected));
  }

  void parse_host(std::string_view authority) {
    if (authority.starts_with('[')) {
      const std::size_t end = authority.find(']');
      if (end == std::string_view::npos) fail("a ] after the IPv6 address");
      target_.host = authority.substr(1, end - 1);
      authority.remove_prefix(end + 1);
      if (!authority.empty() && authority.front() != ':') fail("a port after the IPv6 address");
    } else {
      const std::string_view host = authority.substr(0, authority.find(':'));
      target_.host = decode(host);
      authority.remove_prefix(host.size());
    }
    if (authority.empty()) return;
    authority.remove_prefix(1);
    std::uint16_t port = 0;
    const char* const end = authority.data() + authority.size();
    const auto [stopped, error] = std::from_chars(authority.data(), end, port);
    if (error != std::errc() || stopped != end || port == 0) fail("a port between 1 and 65535");
    target_.port = port;
  }

  [[nodiscard]] std::string decode(std::string_view text) const {
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '%') {
        decoded += text[at];
        continue;
      }
      unsigned char code = 0;
      const char* const digits = text.data() + at + 1;
      if (text.size() - at < 3 || std::from_chars(digits, digits + 2, code, 16).ptr != digits + 2) {
        fail("two hexadecimal digits after each %");
      }
      if (code == 0) fail("no NUL");
      decoded += static_cast<char>(code);
      at += 2;
    }
    return decoded;
  }

  std::string_view url_;
  Target target_;
};

}  // namespace

const std::string* Target::option(std::string_view name) const noexcept {
  const auto found = std::find_if(options.rbegin(), options.rend(),
                                  [&](const auto& option) { return option.first == name; });
  return found != options.rend() ? &found->second : nullptr;
}

std::string Target::text() const {
  std::string text = scheme + "://";
  if (!user.empty()) text += user + '@';
  text += host.find(':') != std::string::npos ? '[' + host + ']' : host;
  if (port) text += fmt::format(":{}", *port);
  return text + '/' + masked(database);  // Where a slash too many has put everything.
}

Target parse_url(std::string_view url) { return Parser(url).parse(); }

}  // namespace fermata::db
