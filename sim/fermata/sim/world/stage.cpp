// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/world/stage.hpp"

#include "fermata/sim/world/stack_sizes.hpp"

namespace fermata::sim::detail {

namespace {

constexpr std::size_t kProgramStackBytes = 1024 * 1024;

StackOptions program_stacks(StackOptions stacks) {
  stacks.stack_bytes = std::max(stacks.stack_bytes, kProgramStackBytes);
  return with_room_for_foreign_code(stacks);
}

}  // namespace

Stage::Stage(Decisions& decisions, const WorldOptions& options)
    : decisions_(decisions),
      options_(options),
      faults_(decisions),
      contexts_(program_stacks(options.stacks)) {}

}  // namespace fermata::sim::detail
