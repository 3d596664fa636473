// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fermata/posix/kernel.hpp"
#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// A device without a state: /dev/null, /dev/zero, /dev/random and /dev/urandom.
class Device final : public Description {
 public:
  enum class Kind : std::uint8_t { Null, Zero, Random };
  /// None when there is no such device at `path`.
  [[nodiscard]] static std::optional<Kind> kind_of(std::string_view path) noexcept;

  /// Random numbers are those of `kernel`. `flags` are those of open().
  Device(posix::Kernel& kernel, Machine& machine, std::uint64_t serial, Kind kind, int flags);

  [[nodiscard]] ssize_t read(std::span<const iovec> target) override;
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override {
    return static_cast<ssize_t>(size_of(source));
  }
  [[nodiscard]] mode_t mode() const noexcept override { return S_IFCHR | 0666; }
  [[nodiscard]] Readiness readiness() override { return EPOLLIN | EPOLLOUT; }

 private:
  posix::Kernel& kernel_;
  Kind device_;
};

}  // namespace fermata::sim::detail
