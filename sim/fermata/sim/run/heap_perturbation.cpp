// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/heap_perturbation.hpp"

#include <malloc.h>

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim::detail {
namespace {

constexpr int kBlocks = 32;
constexpr std::uint64_t kLargest = 2'048;
constexpr int kFill = 0xa5;

/// What the user of this process wants malloc to fill with.
int usual_fill() noexcept {
  const char* text = std::getenv("MALLOC_PERTURB_");
  int fill = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), fill);
  return fill;
}

}  // namespace

HeapPerturbation::HeapPerturbation(std::uint64_t variant) {
  Random random(variant);
  for (int i = 0; i < kBlocks; ++i) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(1 + random.below(kLargest)));
  }
  FERMATA_ASSERT(blocks_.size() == std::size_t{kBlocks});
  for (std::size_t i = 0; i < blocks_.size(); i += 2) blocks_[i].reset();
  ::mallopt(M_PERTURB, kFill);
}

HeapPerturbation::~HeapPerturbation() { ::mallopt(M_PERTURB, usual_fill()); }

}  // namespace fermata::sim::detail
