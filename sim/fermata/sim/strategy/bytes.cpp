// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/bytes.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/tape/decision.hpp"
#include "fermata/sim/tape/random.hpp"

namespace fermata::sim {
namespace {

/// The generator of one draw's noise.
Random generator(const Noise& noise, std::uint64_t key) noexcept {
  return Random(key_of(noise.name, key));
}

bool is_calm(const Noise& noise, Random& random) noexcept {
  return random.below(Noise::kEverywhere) >= noise.density;
}

/// `value`, which is below Answer::kValueBound, as a number below `bound`; 0 stays 0.
std::uint64_t scaled(std::uint32_t value, std::uint64_t bound) noexcept {
  FERMATA_ASSERT(value < Answer::kValueBound);
  __extension__ using Wide = unsigned __int128;
  if (bound == 0) return mix(value);
  if (bound <= Answer::kValueBound) return value % bound;
  return static_cast<std::uint64_t>(Wide{value} * bound / Answer::kValueBound);
}

}  // namespace

void BytesStrategy::begin_run(std::uint64_t /*seed*/) {
  picks_.clear();
  asked_.clear();
}

const Answer* BytesStrategy::answer(backend::RandomStream stream, std::uint64_t key,
                                    std::uint64_t bound) {
  const auto short_key = static_cast<std::uint32_t>(key >> 32);
  if (asked_.size() < kMostRemembered) asked_.push_back(AskedDraw{stream, short_key, bound});
  return input_.find(stream, short_key);
}

std::size_t BytesStrategy::pick(const Candidates& candidates) {
  const std::uint64_t topic = topic_of_pick(candidates.path(0));
  const std::uint64_t key = key_of(topic, picks_.next(topic));
  const std::uint64_t chosen = draw(backend::RandomStream::Schedule, key, candidates.size());
  FERMATA_ASSERT(chosen < candidates.size());
  return static_cast<std::size_t>(chosen);
}

std::uint64_t BytesStrategy::draw(backend::RandomStream stream, std::uint64_t key,
                                  std::uint64_t bound) {
  if (const Answer* const given = answer(stream, key, bound)) return scaled(given->value, bound);
  const Noise& noise = input_.noise(stream);
  Random random = generator(noise, key);
  if (is_calm(noise, random)) return 0;
  return bound == 0 ? random.next() : random.below(bound);
}

std::uint64_t BytesStrategy::draw_rarely(backend::RandomStream stream, std::uint64_t key,
                                         std::uint64_t bound, Odds odds) {
  FERMATA_ASSERT(bound > 1);
  if (const Answer* const given = answer(stream, key, bound)) {
    return given->value == 0 ? 0 : 1 + scaled(given->value - 1, bound - 1);
  }
  const Noise& noise = input_.noise(stream);
  Random random = generator(noise, key);
  if (is_calm(noise, random) || random.below(odds.denominator) >= odds.numerator) return 0;
  return 1 + random.below(bound - 1);
}

}  // namespace fermata::sim
