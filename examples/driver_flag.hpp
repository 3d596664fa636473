// SPDX-License-Identifier: Apache-2.0
#pragma once

// The flag `--loop NAME` of the examples that run on any driver: uv, ev, event, select, pselect and
// epoll, as far as this build has them.

#include <cstddef>
#include <cstdio>
#include <fermata/runtime.hpp>
#include <fermata/drivers/factory.hpp>
#include <span>
#include <string_view>

namespace example {

using Operands = std::span<char* const>;

/// How a program is called, beside the flag.
struct Usage {
  const char* program;
  const char* operands = "";  // As its user reads them: " FILE".
  std::size_t least = 0;      // How many.
  std::size_t most = 0;
};

/// Runs `body`, which gets the operands, on the driver that the flag names, else on the preferred
/// one. Returns what Runtime::run does; 2 when the program was called in another way or this build
/// has no such driver, 1 when the driver has not a part that `body` asks for: each is said on
/// standard error.
template <class Body>
int run_on_driver(const Usage& usage, int argc, char** argv, Body body) {
  Operands operands(argv + 1, argc > 0 ? static_cast<std::size_t>(argc) - 1 : 0);
  const bool flagged = !operands.empty() && std::string_view(operands[0]) == "--loop";
  const char* name = flagged && operands.size() > 1 ? operands[1] : nullptr;
  if (name != nullptr) operands = operands.subspan(2);
  if (flagged != (name != nullptr) || operands.size() < usage.least ||
      operands.size() > usage.most) {
    std::fprintf(stderr, "usage: %s [--loop NAME]%s\n", usage.program, usage.operands);
    return 2;
  }
  try {
    fermata::Runtime runtime(name != nullptr ? fermata::loop::make_reactor(name)
                                             : fermata::loop::make_reactor());
    return runtime.run([&] { return body(operands); });
  } catch (const fermata::UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", usage.program, error.what());
    return 2;
  } catch (const fermata::Unsupported& error) {
    std::fprintf(stderr, "%s: %s\n", usage.program, error.what());
    return 1;
  }
}

}  // namespace example
