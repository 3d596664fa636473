// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIM_PROPERTY(Suite, Name, (std::vector<int> items, int limit)) { ... }: as SIM_TEST, with
// arguments that RapidCheck generates from the seed of each run. They are made before the run,
// outside of any coroutine; every run gets copies.

#include <rapidcheck.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "fermata/sim/run/sim_test.hpp"

namespace fermata::sim::detail {

/// What RapidCheck makes arguments from.
rc::detail::Reproduce reproduction_for(const Preparation& preparation, const std::string& test);
/// As a tape has it.
std::string reproduction_text(const rc::detail::Reproduce& reproduction, const std::string& test);
/// The value that `reproduction` makes with `generator`.
template <class T>
T generate(const rc::Gen<T>& generator, const rc::detail::Reproduce& reproduction) {
  rc::Shrinkable<T> shrinkable = generator(reproduction.random, reproduction.size);
  for (const std::size_t index : reproduction.shrinkPath) {
    auto shrink = rc::seq::at(shrinkable.shrinks(), index);
    if (!shrink) break;
    shrinkable = *shrink;
  }
  return shrinkable.value();
}

template <class Body, class... Arguments>
void run_sim_property(void (Body::*)(Arguments...)) {
  using Values = std::tuple<std::decay_t<Arguments>...>;
  const std::string test = current_test_name();
  const auto generator = rc::gen::arbitrary<Values>();
  rc::detail::Reproduce reproduction;
  std::optional<Values> values;

  Program program;
  program.prepare = [&](const Preparation& preparation) {
    reproduction = reproduction_for(preparation, test);
    values = generate(generator, reproduction);
  };
  program.body = [&](World& world) {
    std::apply([&](const auto&... value) { Body(world).body(value...); }, *values);
  };
  program.arguments = [&] { return rc::toString(*values); };
  program.rapidcheck = [&] { return reproduction_text(reproduction, test); };
  run_sim_test(program);
}

}  // namespace fermata::sim::detail

#define SIM_PROPERTY(Suite, Name, Arguments)                                                       \
  class Suite##_##Name##_SimBody final : ::fermata::sim::detail::SimBody {                         \
   public:                                                                                         \
    using SimBody::SimBody;                                                                        \
    void body Arguments;                                                                           \
  };                                                                                               \
  FERMATA_REGISTER_SIMULATED_TEST(Suite, Name);                                                    \
  TEST(Suite, Name) { ::fermata::sim::detail::run_sim_property(&Suite##_##Name##_SimBody::body); } \
  void Suite##_##Name##_SimBody::body Arguments
