// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "properties/scripts/wait_limits.hpp"

namespace fermata::properties {
namespace {

constexpr int kSteps = 12;
constexpr std::array<std::string_view, kCommonCount> kCommonNames = {"pause", "nap", "cancel",
                                                                     "throw", "fire"};

Vocabulary vocabulary(std::span<const Operation> operations) {
  Vocabulary all{.weights = {{Common::Pause, 4},
                             {Common::Nap, 3},
                             {Common::Cancel, 1},
                             {Common::Throw, 1},
                             {Common::Fire, 1}},
                 .subjects = kLimitDraws,
                 .numbers = 16};
  std::size_t what = kCommonCount;
  for (const Operation& each : operations) all.weights.set({what++, each.weight});
  return all;
}

std::string text_of(const Step& step, std::span<const Operation> operations) {
  if (is_common(step)) return fmt::format("{} {}", kCommonNames[step.what], step.number);
  const std::string_view name = operations[operation_of(step)].name;
  return fmt::format("{} {}{}", name, step.number, limit_text(step.subject));
}

}  // namespace

rc::Gen<Script> scripts(std::span<const Operation> operations) {
  using Shape = std::array<std::uint8_t, 4>;
  const auto shape_number = rc::gen::cast<std::uint8_t>(number_below(8));
  return rc::gen::apply(
      [](Shape shape, std::vector<Steps> actors) {
        return Script{shape, std::move(actors)};
      },
      rc::gen::container<Shape>(shape_number),
      several(2, 8, steps(kSteps, vocabulary(operations))));
}

std::string to_text(const Script& script, std::span<const Operation> operations) {
  std::string text = fmt::format("shape {}\n", fmt::join(script.shape, " "));
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
