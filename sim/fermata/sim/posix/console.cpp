// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/posix/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

Console::Console(Machine& machine, int descriptor) noexcept
    : Description(machine, "standard stream", 0), descriptor_(descriptor) {
  FERMATA_ASSERT(descriptor >= STDIN_FILENO && descriptor <= STDERR_FILENO);
  status = O_RDWR;
}

// Where what the program prints goes, too: a run may be told to keep that.
ssize_t Console::write(std::span<const iovec> source) {
  std::FILE* const stream = descriptor_ == STDERR_FILENO ? stderr : stdout;
  const std::vector<std::byte> bytes = gather(source);
  if (!machine().over()) std::fwrite(bytes.data(), 1, bytes.size(), stream);
  return static_cast<ssize_t>(bytes.size());
}

}  // namespace fermata::sim::detail
