// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/make_strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/suggestion.hpp"
#include "fermata/sim/strategy/bytes.hpp"
#include "fermata/sim/strategy/calm.hpp"
#include "fermata/sim/strategy/delay.hpp"
#include "fermata/sim/strategy/dfs.hpp"
#include "fermata/sim/strategy/fifo.hpp"
#include "fermata/sim/strategy/pct.hpp"
#include "fermata/sim/strategy/portfolio.hpp"
#include "fermata/sim/strategy/pos.hpp"
#include "fermata/sim/strategy/random.hpp"
#include "fermata/sim/strategy/urw.hpp"

namespace fermata::sim {
namespace {

constexpr std::string_view kLength = ":k=";

std::optional<std::uint64_t> number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> positive(std::string_view text) {
  const std::optional<std::uint64_t> value = number(text, 10);
  return value && *value > 0 ? value : std::nullopt;
}

/// A number of 32 bits, so that a sum of them does not overflow.
std::optional<std::uint32_t> small(std::string_view text) {
  const std::optional<std::uint64_t> value = number(text, 10);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

/// The text before the first `mark`, and what follows it; nothing when there is none.
struct Split {
  std::string_view before;
  std::optional<std::string_view> after;
};
Split split(std::string_view text, std::string_view mark) {
  FERMATA_ASSERT(!mark.empty());
  const std::size_t at = text.find(mark);
  if (at == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + mark.size())};
}

/// D, or D:k=N; D is at most `most`.
template <class S>
std::unique_ptr<Strategy> make_of_depth(std::string_view text, std::uint64_t most) {
  const Split parts = split(text, kLength);
  const std::optional<std::uint64_t> depth = positive(parts.before);
  const std::optional<std::uint64_t> picks = parts.after ? positive(*parts.after) : 0;
  if (!depth || *depth > most || !picks) return nullptr;
  return std::make_unique<S>(*depth, *picks);
}

/// What follows "pos": nothing, or :k=N.
std::unique_ptr<Strategy> make_pos(std::string_view text) {
  if (text.empty()) return std::make_unique<PosStrategy>(0);
  const Split parts = split(text, kLength);
  if (!parts.before.empty() || !parts.after) return nullptr;
  const std::optional<std::uint64_t> picks = positive(*parts.after);
  return picks ? std::make_unique<PosStrategy>(*picks) : nullptr;
}

/// What follows "urw": nothing, or :w=PATH.COUNT and more of those after commas.
std::unique_ptr<Strategy> make_urw(std::string_view text) {
  constexpr std::string_view kWeights = ":w=";
  UrwStrategy::Weights weights;
  if (text.empty()) return std::make_unique<UrwStrategy>(std::move(weights));
  const Split parts = split(text, kWeights);
  if (!parts.before.empty() || !parts.after) return nullptr;
  std::optional<std::string_view> rest = parts.after;
  while (rest) {
    const Split item = split(*rest, ",");
    const Split pair = split(item.before, ".");
    const std::optional<std::uint64_t> path = number(pair.before, 16);
    const std::optional<std::uint32_t> count = pair.after ? small(*pair.after) : std::nullopt;
    if (!path || !count || weights.size() == UrwStrategy::kMostRemembered) return nullptr;
    weights.emplace_back(*path, *count);
    rest = item.after;
  }
  FERMATA_ASSERT(!weights.empty());
  return std::make_unique<UrwStrategy>(std::move(weights));
}

/// What follows "dfs": nothing, or :N, or :at=PICKS, or both.
std::unique_ptr<Strategy> make_dfs(std::string_view text) {
  const Split parts = split(text, ":at=");
  std::optional<std::uint64_t> bound = DfsStrategy::kUnbounded;
  if (!parts.before.empty()) {
    bound = parts.before.front() == ':' ? positive(parts.before.substr(1)) : std::nullopt;
  }
  if (!bound) return nullptr;
  if (!parts.after) return std::make_unique<DfsStrategy>(*bound);
  std::vector<std::uint32_t> picks;
  std::optional<std::string_view> rest = parts.after;
  while (rest) {
    const Split item = split(*rest, ".");
    const std::optional<std::uint32_t> pick = small(item.before);
    if (!pick) return nullptr;
    picks.push_back(*pick);
    rest = item.after;
  }
  return std::make_unique<DfsStrategy>(*bound, std::move(picks));
}

/// What follows "bytes": a colon, and two digits for each byte.
std::unique_ptr<Strategy> make_bytes(std::string_view text) {
  if (text.empty() || text.size() % 2 == 0) return nullptr;
  std::vector<std::uint8_t> bytes;
  FERMATA_ASSERT(text.front() == ':');
  for (text.remove_prefix(1); !text.empty(); text.remove_prefix(2)) {
    const std::optional<std::uint64_t> byte = number(text.substr(0, 2), 16);
    if (!byte) return nullptr;
    bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  return std::make_unique<BytesStrategy>(FuzzInput::decode(bytes));
}

/// What follows Courses::kMark: KEY.COUNT and more of those after commas; empty for anything else.
std::vector<Course> parse_courses(std::string_view text) {
  std::vector<Course> courses;
  std::optional<std::string_view> rest = text;
  while (rest) {
    const Split item = split(*rest, ",");
    const Split pair = split(item.before, ".");
    const std::optional<std::uint64_t> subject = number(pair.before, 16);
    const std::optional<std::uint64_t> length = pair.after ? positive(*pair.after) : std::nullopt;
    if (!subject || !length || courses.size() == Courses::kMost) return {};
    courses.push_back({*subject, *length});
    rest = item.after;
  }
  FERMATA_ASSERT(courses.size() <= Courses::kMost);
  return courses;
}

std::unique_ptr<Strategy> make_order(std::string_view name) {
  if (name == "portfolio") return std::make_unique<PortfolioStrategy>();
  if (name == "random") return std::make_unique<RandomStrategy>();
  if (name == "fifo") return std::make_unique<FifoStrategy>();
  if (name == "calm") return std::make_unique<CalmStrategy>();
  const std::string_view kind = name.substr(0, name.find(':'));
  const std::string_view rest = name.substr(kind.size());
  FERMATA_ASSERT(rest.empty() || rest.front() == ':');
  if (kind == "pos") return make_pos(rest);
  if (kind == "urw") return make_urw(rest);
  if (kind == "bytes") return make_bytes(rest);
  if (kind == "dfs") return make_dfs(rest);
  if (rest.empty()) return nullptr;
  if (kind == "pct") return make_of_depth<PctStrategy>(rest.substr(1), PctStrategy::kDeepest);
  if (kind == "delay") return make_of_depth<DelayStrategy>(rest.substr(1), DelayStrategy::kMost);
  return nullptr;
}

std::unique_ptr<Strategy> make_or_null(std::string_view name) {
  const Split parts = split(name, Courses::kMark);
  std::unique_ptr<Strategy> strategy = make_order(parts.before);
  if (!parts.after) return strategy;
  auto* const learns = dynamic_cast<SeededStrategy*>(strategy.get());
  const std::vector<Course> courses = parse_courses(*parts.after);
  if (learns == nullptr || courses.empty()) return nullptr;
  learns->learn_courses(courses);
  return strategy;
}

/// What may have been meant by an unknown name; nothing when only what follows it is wrong.
std::string suggested(std::string_view text) {
  constexpr std::string_view kNames[] = {"portfolio", "random", "urw",  "pos", "pct",
                                         "delay",     "dfs",    "fifo", "calm"};
  const std::string_view name = text.substr(0, text.find(':'));
  const bool known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  return known ? std::string() : suggestion(name, kNames);
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name) {
  std::unique_ptr<Strategy> strategy = make_or_null(name);
  if (strategy == nullptr) {
    throw Error(fmt::format(
        "'{}' is not a valid strategy; expected portfolio, random, urw, pos, pct:D, delay:D, "
        "dfs, dfs:N, fifo or calm, with D from 1 to {} and N from 1{}",
        name, PctStrategy::kDeepest, suggested(name)));
  }
  return strategy;
}

}  // namespace fermata::sim
