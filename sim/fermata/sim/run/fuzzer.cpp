// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/fuzzer.hpp"

namespace fermata::sim::detail {
namespace {

Fuzzer registered_fuzzer = nullptr;

}  // namespace

Fuzzer fuzzer() noexcept { return registered_fuzzer; }
void register_fuzzer(Fuzzer fuzzer) noexcept { registered_fuzzer = fuzzer; }

}  // namespace fermata::sim::detail
