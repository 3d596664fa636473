// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace fermata::properties {
namespace {

constexpr int kSteps = 12;
constexpr std::array kCommon = {4 * "pause"_op, 3 * "nap"_op, 1 * "cancel"_op, 1 * "throw"_op,
                                1 * "fire"_op};

Vocabulary vocabulary(std::span<const Operation> operations) {
  Vocabulary all{.numbers = 16};
  std::size_t what = 0;
  for (const Operation& each : kCommon) all.weights.set({what++, each.weight});
  for (const Operation& each : operations) all.weights.set({what++, each.weight});
  return all;
}

std::string text_of(const Step& step, std::span<const Operation> operations) {
  const std::string_view name =
      is_common(step) ? kCommon[step.what].name : operations[operation_of(step)].name;
  return fmt::format("{} {}", name, step.number);
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
