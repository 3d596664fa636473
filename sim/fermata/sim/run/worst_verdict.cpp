// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/worst_verdict.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {
namespace {

std::optional<Verdict> worst;

}  // namespace

void note_verdict(Verdict verdict) noexcept {
  if (!worst || outweighs(verdict, *worst)) worst = verdict;
  FERMATA_ASSERT(!outweighs(verdict, *worst));
}

std::optional<Verdict> worst_verdict() noexcept { return worst; }

}  // namespace fermata::sim::detail
