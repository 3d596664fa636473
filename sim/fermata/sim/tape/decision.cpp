// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/tape/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fermata/base/assert.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

constexpr std::array<std::string_view, kStreams> kStreamNames = {
    "schedule", "time", "network", "disk", "offload", "fault", "allocation", "workload"};

}  // namespace

std::string coroutine_name(std::uint64_t path, const KeyNames& names) {
  const auto found = names.find(path);
  return found == names.end() ? "an unnamed coroutine" : fmt::format("'{}'", found->second);
}

bool goes_without_saying(const Decision& decision, const KeyNames& names) {
  if (decision.is_pick) return false;
  const auto sentence = names.find(decision.key);
  return sentence != names.end() && sentence->second.empty();
}

std::size_t count_shown(std::span<const Decision> decisions, const KeyNames& names) {
  return static_cast<std::size_t>(
      std::count_if(decisions.begin(), decisions.end(),
                    [&](const Decision& each) { return !goes_without_saying(each, names); }));
}

std::string describe(const Decision& decision, const KeyNames& names) {
  if (decision.is_pick) {
    return fmt::format("{} runs before {}", coroutine_name(decision.value, names),
                       coroutine_name(decision.subject, names));
  }
  if (goes_without_saying(decision, names)) return "a kind of fault may strike in this run";
  if (const auto sentence = names.find(decision.key); sentence != names.end()) {
    return sentence->second;
  }
  const std::string bound = decision.bound == 0 ? "" : fmt::format(" of {}", decision.bound);
  return fmt::format("a draw of '{}' gives {}{}", to_string(decision.stream), decision.value,
                     bound);
}

std::string describe(Instant at) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  std::string text =
      fmt::format("+{}.{:06}", at.nanoseconds / kMillisecond, at.nanoseconds % kMillisecond);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " ms";
}

std::string_view to_string(backend::RandomStream stream) noexcept {
  FERMATA_ASSERT(static_cast<std::size_t>(stream) < kStreamNames.size());
  return kStreamNames[static_cast<std::size_t>(stream)];
}

std::optional<backend::RandomStream> stream_of(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kStreamNames.size(); ++i) {
    if (kStreamNames[i] == name) return static_cast<backend::RandomStream>(i);
  }
  return std::nullopt;
}

}  // namespace fermata::sim
