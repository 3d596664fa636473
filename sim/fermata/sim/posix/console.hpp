// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/sim/posix/description.hpp"

namespace fermata::sim::detail {

/// A standard stream of a simulated process, for code that was not written for Fermata. What it
/// writes goes where the program's printf() and messages go, and there is nothing to read.
class Console final : public Description {
 public:
  /// `descriptor` is 0, 1 or 2.
  Console(Machine& machine, int descriptor) noexcept;

  [[nodiscard]] ssize_t read(std::span<const iovec>) override { return 0; }
  [[nodiscard]] ssize_t write(std::span<const iovec> source) override;
  [[nodiscard]] mode_t mode() const noexcept override { return S_IFCHR | 0620; }
  [[nodiscard]] Readiness readiness() override { return EPOLLIN | EPOLLOUT; }

 private:
  int descriptor_;
};

}  // namespace fermata::sim::detail
