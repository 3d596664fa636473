// SPDX-License-Identifier: Apache-2.0

// Tests that workers fuzz together, beside fuzz/canary.cpp.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

namespace {

SIM_TEST(Fuzzed, Passes) {
  const auto other = fermata::spawn("other", [] { fermata::suspend(); });
  fermata::await(other);
}

SIM_TEST(Fuzzed, Crashes) {
  std::uint64_t right = 0;
  while (right < 3 && fermata::random(8) == right) ++right;
  FERMATA_SOMETIMES_GE(right, 3u, "three numbers are right");
  if (right == 3) __builtin_trap();
}

}  // namespace
