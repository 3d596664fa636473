// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program under load holds, what has to be true of it, and the numbers it is told.

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace fermata::soak {

struct Sample {
  std::uint64_t memory = 0;  // Resident, in bytes.
  std::int64_t descriptors = 0;
};

inline Sample sample() {
  Sample now;
  std::uint64_t pages = 0;
  std::ifstream statm("/proc/self/statm");
  statm >> pages >> pages;
  now.memory = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto open = std::filesystem::directory_iterator("/proc/self/fd");
  now.descriptors = std::distance(begin(open), end(open));
  return now;
}

/// What has to hold, and whether it did.
class Verdict {
 public:
  void require(bool holds, const std::string& text) {
    if (holds) return;
    fmt::print("soak: {}\n", text);
    failed_ = true;
  }
  [[nodiscard]] int exit_code() const noexcept { return failed_ ? 1 : 0; }

 private:
  bool failed_ = false;
};

inline std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

}  // namespace fermata::soak
