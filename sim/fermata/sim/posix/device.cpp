// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/device.hpp"

#include <fcntl.h>

#include <cstring>

namespace fermata::sim::detail {

std::optional<Device::Kind> Device::kind_of(std::string_view path) noexcept {
  if (path == "/dev/null") return Kind::Null;
  if (path == "/dev/zero") return Kind::Zero;
  if (path == "/dev/random" || path == "/dev/urandom") return Kind::Random;
  return std::nullopt;
}

Device::Device(posix::Kernel& kernel, Machine& machine, std::uint64_t serial, Kind kind, int flags)
    : Description(machine, "device", serial), kernel_(kernel), device_(kind) {
  status = flags & O_ACCMODE;
}

ssize_t Device::read(std::span<const iovec> target) {
  if (device_ == Kind::Null) return 0;
  for (const iovec& each : target) {
    if (device_ == Kind::Random) {
      kernel_.fill_randomly({static_cast<std::byte*>(each.iov_base), each.iov_len});
    } else if (each.iov_len > 0) {
      std::memset(each.iov_base, 0, each.iov_len);
    }
  }
  return static_cast<ssize_t>(size_of(target));
}

}  // namespace fermata::sim::detail
