// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "tests/posix/scripts/answers.hpp"

namespace fermata::test {

std::string result_of(std::int64_t result) {
  if (result >= 0) return fmt::to_string(result);
  const char* const name = ::strerrorname_np(errno);
  return fmt::format("{} {}", result, name != nullptr ? name : "?");
}

std::string bytes_text(std::span<const char> bytes) {
  std::string text = "'";
  while (!bytes.empty()) {
    const char byte = bytes.front();
    const auto end =
        std::find_if(bytes.begin(), bytes.end(), [&](char each) { return each != byte; });
    const auto count = static_cast<std::size_t>(end - bytes.begin());
    const bool is_letter = byte >= 'a' && byte <= 'z';
    text += is_letter
                ? std::string(1, byte)
                : fmt::format("\\{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
    if (count > 1) text += fmt::format("*{}", count);
    bytes = bytes.subspan(count);
    if (!bytes.empty()) text += ' ';
  }
  return text + "'";
}

std::string bits_text(std::uint32_t bits) {
  constexpr std::array kNames = {std::pair{EPOLLIN, "IN"},          std::pair{EPOLLPRI, "PRI"},
                                 std::pair{EPOLLOUT, "OUT"},        std::pair{EPOLLERR, "ERR"},
                                 std::pair{EPOLLHUP, "HUP"},        std::pair{EPOLLRDHUP, "RDHUP"},
                                 std::pair{EPOLLONESHOT, "ONESHOT"}};
  std::string text;
  const auto add = [&text](const std::string& name) { text += (text.empty() ? "" : "|") + name; };
  for (const auto& [bit, name] : kNames) {
    if ((bits & static_cast<std::uint32_t>(bit)) != 0) add(name);
    bits &= ~static_cast<std::uint32_t>(bit);
  }
  if ((bits & EPOLLET) != 0) add("ET");
  bits &= ~static_cast<std::uint32_t>(EPOLLET);
  if (bits != 0) add(fmt::format("{:#x}", bits));
  return text.empty() ? "0" : text;
}

Answer opened(Run& run, const Step& step, int descriptor, const std::string& call) {
  std::string result = result_of(descriptor);
  run.fill(step.made[0], descriptor);
  return {fmt::format("${} = {}", step.made[0], call), std::move(result)};
}

}  // namespace fermata::test
