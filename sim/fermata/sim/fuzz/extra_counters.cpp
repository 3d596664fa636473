// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fuzz/extra_counters.hpp"

#include <algorithm>
#include <limits>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"

namespace fermata::sim {
namespace {

[[gnu::section("__libfuzzer_extra_counters"), gnu::used]] CounterTables counter_tables{};

template <std::size_t N>
std::uint8_t& at(std::array<std::uint8_t, N>& table, std::uint64_t place) noexcept {
  return table[place % N];
}

void count(std::uint8_t& counter, std::uint64_t times = 1) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint8_t>::max();
  counter = static_cast<std::uint8_t>(std::min(kMost, counter + times));
}

}  // namespace

void ExtraCounters::begin_run() noexcept { counter_tables = {}; }

void ExtraCounters::woken(std::uint64_t by, std::uint64_t who, backend::WakeCause cause) {
  count(at(counter_tables.wakes, key_of(key_of(by, who), static_cast<std::uint64_t>(cause))));
}

void ExtraCounters::end_run(std::span<const AssertionCounts> counts) {
  before_.resize(std::max(before_.size(), counts.size()));
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const AssertionCounts& now = counts[i];
    const AssertionCounts& then = before_[i];
    if (now.reached == then.reached) continue;
    FERMATA_ASSERT(now.reached > then.reached);
    FERMATA_ASSERT(now.held >= then.held);
    count(at(counter_tables.marks, 2 * i), now.reached - then.reached);
    count(at(counter_tables.marks, 2 * i + 1), now.held - then.held);
    const auto best = [&](std::int64_t slack) {
      count(at(counter_tables.bests, key_of(i, static_cast<std::uint64_t>(slack))));
    };
    if (now.most > then.most) best(now.most);
    if (now.least < then.least) best(now.least);
  }
  before_.assign(counts.begin(), counts.end());
  FERMATA_ASSERT(before_.size() == counts.size());
}

const CounterTables& ExtraCounters::tables() noexcept { return counter_tables; }

}  // namespace fermata::sim
