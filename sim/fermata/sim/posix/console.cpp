// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {

Console::Console(Machine& machine, int descriptor) noexcept
    : Description(machine, "standard stream", 0), descriptor_(descriptor) {
  FERMATA_ASSERT(descriptor >= STDIN_FILENO && descriptor <= STDERR_FILENO);
  status = O_RDWR;
}

// All of it counts as written: what becomes of it is not the simulated program's business.
ssize_t Console::write(std::span<const iovec> source) {
  const int target = descriptor_ == STDIN_FILENO ? STDOUT_FILENO : descriptor_;
  const std::vector<std::byte> bytes = gather(source);
  if (!machine().over() && !bytes.empty()) {
    [[maybe_unused]] const ssize_t written = os::kernel.write(target, bytes.data(), bytes.size());
  }
  return static_cast<ssize_t>(bytes.size());
}

}  // namespace fermata::sim::detail
