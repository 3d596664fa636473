// SPDX-License-Identifier: Apache-2.0
#include "properties/scripts/script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace fermata::properties::scripts {
namespace {

constexpr int kSize = 100;
constexpr int kSteps = 12;
constexpr std::array<Operation, kCommonCount> kCommon = {
    {{"pause", 4}, {"nap", 3}, {"cancel", 1}, {"throw", 1}, {"fire", 1}}};

/// What a number below the sum of all weights stands for.
std::uint8_t choose(std::span<const Operation> operations, unsigned number) {
  std::uint8_t what = 0;
  for (const auto& part : {std::span<const Operation>(kCommon), operations}) {
    for (const Operation& operation : part) {
      if (number < operation.weight) return what;
      number -= operation.weight;
      ++what;
    }
  }
  return 0;
}

rc::Gen<Step> steps(std::span<const Operation> operations) {
  unsigned total = 0;
  for (const Operation& operation : kCommon) total += operation.weight;
  for (const Operation& operation : operations) total += operation.weight;
  // One number for both parts; smaller is simpler, and that is the way RapidCheck shrinks.
  const auto numbers = rc::gen::resize(kSize, rc::gen::inRange<unsigned>(0, total * 16));
  return rc::gen::map(numbers, [operations](unsigned number) {
    return Step{choose(operations, number / 16), static_cast<std::uint8_t>(number % 16)};
  });
}

std::string text_of(const Step& step, std::span<const Operation> operations) {
  const std::string_view name =
      step.is_common() ? kCommon[step.what].name : operations[step.operation()].name;
  return fmt::format("{} {}", name, step.number);
}

}  // namespace

rc::Gen<Script> scripts(std::span<const Operation> operations) {
  using Steps = std::vector<Step>;
  const auto shape_numbers = rc::gen::resize(kSize, rc::gen::inRange<std::uint8_t>(0, 8));
  const auto list = rc::gen::resize(kSteps, rc::gen::container<Steps>(steps(operations)));
  const auto lists = rc::gen::mapcat(rc::gen::inRange<std::size_t>(2, 9), [list](std::size_t n) {
    return rc::gen::container<std::vector<Steps>>(n, list);
  });
  return rc::gen::apply(
      [](std::array<std::uint8_t, 4> shape, std::vector<Steps> actors) {
        return Script{shape, std::move(actors)};
      },
      rc::gen::container<std::array<std::uint8_t, 4>>(shape_numbers), lists);
}

rc::Shrinkable<Script> shrinkable_script(std::span<const Operation> operations,
                                         std::uint64_t seed) {
  return scripts(operations)(rc::Random(seed), kSize);
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

}  // namespace fermata::properties::scripts
