// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/strategy.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "fermata/runtime/base/error.hpp"
#include "fermata/sim/strategy/calm.hpp"
#include "fermata/sim/strategy/fifo.hpp"
#include "fermata/sim/strategy/pct.hpp"
#include "fermata/sim/strategy/random.hpp"

namespace fermata::sim {
namespace {

std::optional<std::uint64_t> positive(std::string_view text) {
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && stop == text.data() + text.size();
  return whole && value > 0 ? std::optional(value) : std::nullopt;
}

/// What follows "pct:": D, or D:k=N.
std::unique_ptr<Strategy> make_pct(std::string_view parameters) {
  constexpr std::string_view kLearnt = ":k=";
  const std::size_t split = parameters.find(kLearnt);
  const std::optional<std::uint64_t> depth = positive(parameters.substr(0, split));
  std::optional<std::uint64_t> picks = 0;
  if (split != std::string_view::npos) picks = positive(parameters.substr(split + kLearnt.size()));
  if (!depth || *depth > PctStrategy::kDeepest || !picks) return nullptr;
  return std::make_unique<PctStrategy>(*depth, *picks);
}

}  // namespace

std::unique_ptr<Strategy> make_strategy(std::string_view name) {
  constexpr std::string_view kPct = "pct:";
  std::unique_ptr<Strategy> strategy;
  if (name == "random") {
    strategy = std::make_unique<RandomStrategy>();
  } else if (name == "fifo") {
    strategy = std::make_unique<FifoStrategy>();
  } else if (name == "calm") {
    strategy = std::make_unique<CalmStrategy>();
  } else if (name.substr(0, kPct.size()) == kPct) {
    strategy = make_pct(name.substr(kPct.size()));
  }
  if (strategy == nullptr) {
    throw Error(
        fmt::format("'{}' is no strategy; expected fifo, random, calm, or pct:D with D "
                    "from 1 to {}",
                    name, PctStrategy::kDeepest));
  }
  return strategy;
}

}  // namespace fermata::sim
