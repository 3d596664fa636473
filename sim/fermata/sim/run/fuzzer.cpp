// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/fuzzer.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {
namespace {

Fuzzer registered_fuzzer = nullptr;

}  // namespace

Fuzzer fuzzer() noexcept { return registered_fuzzer; }
void register_fuzzer(Fuzzer fuzzer) noexcept {
  FERMATA_ASSERT(fuzzer != nullptr);
  registered_fuzzer = fuzzer;
}

}  // namespace fermata::sim::detail
