// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/target.hpp"

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

std::vector<std::uint8_t> cut(std::vector<std::uint8_t> bytes, std::size_t room) {
  bytes.resize(std::min(bytes.size(), room));
  FERMATA_ASSERT(bytes.size() <= room);
  return bytes;
}

}  // namespace

FuzzTarget::FuzzTarget(const Program& program, WorldOptions options)
    : FuzzTarget(program, std::move(options), std::make_unique<BytesStrategy>()) {}

FuzzTarget::FuzzTarget(const Program& program, WorldOptions options,
                       std::unique_ptr<BytesStrategy> strategy)
    : strategy_(strategy.get()),
      has_arguments_(program.prepare != nullptr),
      runner_(program, std::move(strategy), options, {.wakes = &counters_}) {}

RunResult FuzzTarget::run(std::span<const std::uint8_t> bytes) {
  strategy_->set_input(FuzzInput::decode(bytes));
  counters_.begin_run();
  RunResult result = runner_.run(input().seed);
  runner_.learn();
  counters_.end_run(runner_.assertion_counts());
  return result;
}

std::vector<std::uint8_t> FuzzTarget::mutated(std::span<const std::uint8_t> bytes, std::size_t room,
                                              std::uint64_t seed) const {
  FuzzInput input = FuzzInput::decode(bytes);
  Random random(seed);
  mutate(input, asked(), limits(room), random);
  return cut(input.encode(), room);
}

std::vector<std::uint8_t> FuzzTarget::crossed(std::span<const std::uint8_t> one,
                                              std::span<const std::uint8_t> other, std::size_t room,
                                              std::uint64_t seed) const {
  Random random(seed);
  const FuzzInput child =
      cross_over(FuzzInput::decode(one), FuzzInput::decode(other), limits(room), random);
  return cut(child.encode(), room);
}

MutationLimits FuzzTarget::limits(std::size_t room) const noexcept {
  return {.answers = FuzzInput::answers_in(room), .seed = has_arguments_};
}

}  // namespace fermata::sim
