// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <fermata/core/runtime.hpp>
#include <fermata/uring/reactor.hpp>

int main() {
  namespace uring = fermata::uring;
  if (const std::string refusal = uring::refusal(); !refusal.empty()) {
    return std::puts(refusal.c_str()) < 0 ? 1 : 0;
  }
  fermata::Runtime runtime(uring::make_reactor());
  return runtime.run([] { return 0; });
}
