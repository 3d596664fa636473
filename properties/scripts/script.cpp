// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "properties/scripts/crowd.hpp"
#include "properties/scripts/parting.hpp"
#include "properties/scripts/wait_limits.hpp"

namespace fermata::properties {
namespace {

/// How many actors there are, and how many steps each has at most.
struct Size {
  unsigned until;  // It is chosen by numbers from 0 to 63 below this one.
  std::size_t least;
  std::size_t most;
  int steps;
};
constexpr std::array<Size, 3> kSizes = {{{60, 2, 8, 12}, {63, 9, 20, 6}, {64, 21, 60, 4}}};
constexpr std::array<std::string_view, kCommonCount> kCommonNames = {
    "pause", "nap", "cancel", "throw", "fire", "leave to the end of"};

Vocabulary vocabulary(std::span<const Operation> operations) {
  Vocabulary all{.weights = {{Common::Pause, 4},
                             {Common::Nap, 3},
                             {Common::Cancel, 1},
                             {Common::Throw, 1},
                             {Common::Fire, 1},
                             {Common::Leave, 1}},
                 .subjects = kLimitDraws,
                 .numbers = 16};
  std::size_t what = kCommonCount;
  for (const Operation& each : operations) all.weights.set({what++, each.weight});
  return all;
}

/// What actors stand in has a second level, and a third, when there are many of them.
rc::Gen<std::vector<Steps>> actors(const Vocabulary& all) {
  return rc::gen::mapcat(number_below(kSizes.back().until), [all](unsigned number) {
    const Size& size = *std::find_if(kSizes.begin(), kSizes.end(),
                                     [&](const Size& each) { return number < each.until; });
    return several(size.least, size.most, steps(size.steps, all));
  });
}

std::string text_of(const Step& step, std::span<const Operation> operations) {
  if (step.what == static_cast<std::uint8_t>(Common::Leave)) {
    return fmt::format("{} {}", kCommonNames[step.what], host_text(step.number));
  }
  if (is_common(step)) return fmt::format("{} {}", kCommonNames[step.what], step.number);
  const std::string_view name = operations[operation_of(step)].name;
  return fmt::format("{} {}{}", name, step.number, limit_text(step.subject));
}

}  // namespace

rc::Gen<Script> scripts(std::span<const Operation> operations) {
  using Shape = std::array<std::uint8_t, 4>;
  const auto shape_number = rc::gen::cast<std::uint8_t>(number_below(8));
  return rc::gen::apply(
      [](Shape shape, std::vector<Steps> actors, unsigned crowd) {
        return Script{shape, std::move(actors), crowd};
      },
      rc::gen::container<Shape>(shape_number), actors(vocabulary(operations)),
      number_below(kCrowds));
}

std::string to_text(const Script& script, std::span<const Operation> operations) {
  std::string text = fmt::format("shape {}\n", fmt::join(script.shape, " "));
  if (const std::size_t timers = size_of_crowd(script.crowd)) {
    text += fmt::format("beside {} timers\n", timers);
  }
  for (std::size_t i = 0; i < script.actors.size(); ++i) {
    text += fmt::format("actor {}:", i);
    const char* separator = " ";
    for (const Step& step : script.actors[i]) {
      text += std::exchange(separator, ", ") + text_of(step, operations);
    }
    text += '\n';
  }
  return text;
}

}  // namespace fermata::properties
