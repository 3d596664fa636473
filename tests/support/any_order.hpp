// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fermata/core/chooser.hpp"
#include "fermata/core/ready_queue.hpp"
#include "tests/support/splitmix.hpp"

namespace fermata::test {

/// Picks any ready coroutine.
class AnyOrder final : public backend::Chooser {
 public:
  explicit AnyOrder(std::uint64_t seed) : random_(seed) {}
  std::size_t pick(const detail::ReadyQueue& ready) override { return random_.below(ready.size()); }
  std::uint64_t draw(const backend::ProgramDraw& draw) override {
    return draw.bound == 0 ? random_.next() : random_.below(draw.bound);
  }
  bool fault_point(std::string_view) override { return random_.below(2) != 0; }
  std::uint64_t spawn_path(std::uint64_t parent, std::string_view) override { return parent + 1; }

 private:
  SplitMix random_;
};

}  // namespace fermata::test
