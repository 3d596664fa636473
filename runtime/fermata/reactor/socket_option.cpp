// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/socket_option.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "fermata/base/error.hpp"
#include "fermata/reactor/io_handle.hpp"

namespace fermata::backend {

namespace {

struct Range {
  const char* name;
  int least;
  int most;
};

constexpr std::array<Range, kSocketOptionCount> kRanges = {{
    {"no-delay", 0, 1},
    {"keep-alive", 0, 32'767},
    {"send-buffer", 1, std::numeric_limits<int>::max() / 2},
    {"receive-buffer", 1, std::numeric_limits<int>::max() / 2},
    {"reset-on-close", 0, 1},
}};

const Range& range_of(SocketOption option) { return kRanges[static_cast<std::size_t>(option)]; }

}  // namespace

const char* to_string(SocketOption option) noexcept { return range_of(option).name; }

void IoHandle::set_option(SocketOption option, int value) {
  const Range& range = range_of(option);
  if (value < range.least || value > range.most) {
    throw UsageError(
        fmt::format("set {}: {}: expected {} to {}", range.name, value, range.least, range.most));
  }
  const std::string operation = fmt::format("set {}", range.name);
  if (is_closed()) throw InputOutputError(operation + " of closed IO handle");
  if (const int code = apply_option(option, value); code != 0) {
    throw InputOutputError(operation, code);
  }
}

int IoHandle::option(SocketOption option) const {
  const std::string operation = fmt::format("get {}", to_string(option));
  if (is_closed()) throw InputOutputError(operation + " of closed IO handle");
  int value = 0;
  if (const int code = read_option(option, value); code != 0) {
    throw InputOutputError(operation, code);
  }
  return value;
}

}  // namespace fermata::backend
