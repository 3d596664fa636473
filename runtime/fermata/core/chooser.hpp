// SPDX-License-Identifier: Apache-2.0
#pragma once

// Every decision that the runtime may take one way or another. Production has no chooser: it runs
// first in, first out, and draws from the system's generator. The simulator supplies one that asks
// a strategy and writes the answers on a tape.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fermata/base/source_place.hpp"

namespace fermata::detail {
class ReadyQueue;
}

namespace fermata::backend {

/// Independent sources of randomness: a new draw in one never shifts another.
enum class RandomStream : std::uint8_t {
  Schedule,
  Time,
  Network,
  Disk,
  Offload,
  Fault,
  Allocation,
  Workload,
};

/// A number that the program itself asks for.
struct ProgramDraw {
  enum class What : std::uint8_t {
    Random,  // random()
    Tie,     // which of the callbacks of a loop that are due at once is called next
  };

  std::uint64_t key = 0;    // Names the draw in a way that survives edits of the program.
  std::uint64_t bound = 0;  // 0: any 64-bit number.
  What what = What::Random;
  SourcePlace place{};  // Where the program asks; for display only.
};

class Chooser {
 public:
  virtual ~Chooser() = default;

  /// The index in `ready` of the coroutine that runs next. REQUIRES: at least two candidates.
  /// Index 0 is production's choice.
  virtual std::size_t pick(const detail::ReadyQueue& ready) = 0;

  /// A number in [0, draw.bound), or any 64-bit number when that is 0. Zero is the calm answer.
  virtual std::uint64_t draw(const ProgramDraw& draw) = 0;

  /// Whether the fault that the program calls `name` strikes now; see FERMATA_FAULT.
  virtual bool fault_point(std::string_view name) = 0;

  /// The identity of a coroutine called `name` spawned by the one identified by `parent`.
  virtual std::uint64_t spawn_path(std::uint64_t parent, std::string_view name) = 0;
};

}  // namespace fermata::backend
