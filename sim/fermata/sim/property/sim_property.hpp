// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIM_PROPERTY(Suite, Name, (std::vector<int> items, int limit)) { ... }: as SIM_TEST, with
// arguments that RapidCheck generates from the seed of each run. They are made before the run,
// outside of any coroutine; every run gets copies.

#include <rapidcheck.h>

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "fermata/sim/run/sim_test.hpp"

namespace fermata::sim::detail {

/// The parameters from which RapidCheck makes arguments.
rc::detail::Reproduce reproduction_for(const Preparation& preparation, const std::string& test);
/// The reproduction as text, as stored in a tape.
std::string reproduction_text(const rc::detail::Reproduce& reproduction, const std::string& test);
/// The value that `reproduction` makes with `generator`.
template <class T>
rc::Shrinkable<T> shrinkable(const rc::Gen<T>& generator,
                             const rc::detail::Reproduce& reproduction) {
  rc::Shrinkable<T> result = generator(reproduction.random, reproduction.size);
  for (const std::size_t index : reproduction.shrinkPath) {
    auto shrink = rc::seq::at(result.shrinks(), index);
    if (!shrink) break;
    result = *shrink;
  }
  return result;
}

/// How to make what is one step smaller than what `reproduction` makes; at most kSmaller of it.
template <class T>
std::vector<rc::detail::Reproduce> smaller_than(const rc::Gen<T>& generator,
                                                const rc::detail::Reproduce& reproduction) {
  constexpr std::size_t kSmaller = 100;
  auto shrinks = shrinkable(generator, reproduction).shrinks();
  std::vector<rc::detail::Reproduce> result;
  for (std::size_t i = 0; i < kSmaller && shrinks.next(); ++i) {
    result.push_back(reproduction);
    result.back().shrinkPath.push_back(i);
  }
  return result;
}

/// Calls `play(world, values)` in each run, with a tuple that `generator` makes for it.
template <class Values, class Play>
void run_sim_property(const rc::Gen<Values>& generator, const Play& play) {
  const std::string test = current_test_name();
  rc::detail::Reproduce reproduction;
  std::optional<Values> values;

  Program program;
  program.prepare = [&](const Preparation& preparation) {
    reproduction = reproduction_for(preparation, test);
    values = shrinkable(generator, reproduction).value();
  };
  program.body = [&](World& world) { play(world, std::as_const(*values)); };
  program.arguments = [&] { return rc::toString(*values); };
  program.rapidcheck = [&] { return reproduction_text(reproduction, test); };
  program.smaller_arguments = [&](std::string_view rapidcheck) {
    std::vector<std::string> texts;
    const rc::detail::Reproduce from = reproduction_for(Preparation{0, rapidcheck}, test);
    for (const auto& smaller : smaller_than(generator, from)) {
      texts.push_back(reproduction_text(smaller, test));
    }
    return texts;
  };
  run_sim_test(program);
}

template <class... Arguments>
void run_sim_property(void (*body)(World& world, Arguments...)) {
  using Values = std::tuple<std::decay_t<Arguments>...>;
  run_sim_property(rc::gen::arbitrary<Values>(), [body](World& world, const Values& values) {
    std::apply([&](const auto&... value) { body(world, value...); }, values);
  });
}

}  // namespace fermata::sim::detail

/// ([[maybe_unused]] World& world, and what stands between the parentheses)
#define FERMATA_WITH_WORLD(...) \
  ([[maybe_unused]] ::fermata::sim::World & world __VA_OPT__(, ) __VA_ARGS__)

#define SIM_PROPERTY(Suite, Name, Arguments)                                              \
  static void Suite##_##Name##_body FERMATA_WITH_WORLD Arguments;                         \
  FERMATA_REGISTER_SIMULATED_TEST(Suite, Name);                                           \
  TEST(Suite, Name) { ::fermata::sim::detail::run_sim_property(&Suite##_##Name##_body); } \
  static void Suite##_##Name##_body FERMATA_WITH_WORLD Arguments
