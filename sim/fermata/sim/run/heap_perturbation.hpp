// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace fermata::sim::detail {

/// While it lives the heap is another one: blocks of many sizes are taken, every other one is given
/// back, and what malloc gives and free takes is overwritten. A run that depends on addresses or on
/// memory it never wrote will be another run.
class HeapPerturbation {
 public:
  /// A different heap for each `variant`.
  explicit HeapPerturbation(std::uint64_t variant);
  HeapPerturbation(const HeapPerturbation&) = delete;
  HeapPerturbation& operator=(const HeapPerturbation&) = delete;
  ~HeapPerturbation();

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
};

}  // namespace fermata::sim::detail
