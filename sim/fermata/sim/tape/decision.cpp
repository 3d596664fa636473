// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision.hpp"

#include <fmt/format.h>

#include <array>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::string_view, kStreams> kStreamNames = {
    "schedule", "time", "network", "disk", "offload", "fault", "allocation", "workload"};

}  // namespace

std::string name_of(std::uint64_t key, const KeyNames& names) {
  const auto found = names.find(key);
  return found == names.end() ? fmt::format("{:#x}", key) : fmt::format("'{}'", found->second);
}

std::string describe(const Decision& decision, const KeyNames& names) {
  const std::string subject = name_of(decision.subject, names);
  if (decision.is_pick) {
    return fmt::format("{} runs before {}", name_of(decision.value, names), subject);
  }
  const std::string bound = decision.bound == 0 ? "" : fmt::format(", below {}", decision.bound);
  return fmt::format("{} {} is {}{}", to_string(decision.stream), subject, decision.value, bound);
}

std::string describe(Instant at) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  return fmt::format("+{}.{:06} ms", at.nanoseconds / kMillisecond, at.nanoseconds % kMillisecond);
}

std::string_view to_string(RandomStream stream) noexcept {
  FERMATA_ASSERT(static_cast<std::size_t>(stream) < kStreamNames.size());
  return kStreamNames[static_cast<std::size_t>(stream)];
}

std::optional<RandomStream> stream_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kStreamNames.size(); ++i) {
    if (kStreamNames[i] == name) return static_cast<RandomStream>(i);
  }
  return std::nullopt;
}

}  // namespace fermata::sim
