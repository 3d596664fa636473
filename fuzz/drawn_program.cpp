// SPDX-License-Identifier: Apache-2.0
#include "fuzz/drawn_program.hpp"

#include "fermata/sim/base/key.hpp"

namespace fermata::fuzz {
namespace {

using properties::Program;
using properties::Steps;
using properties::Weights;
using sim::key_of;

class Drawer {
 public:
  explicit Drawer(backend::Chooser& chooser) noexcept : chooser_(chooser) {}

  std::uint64_t below(std::uint64_t key, std::uint64_t bound) {
    return chooser_.draw({.key = key, .bound = bound});
  }

  Steps steps(std::uint64_t place, const Weights& ops, std::uint64_t most) {
    const properties::Vocabulary vocabulary = properties::program_steps(ops);
    Steps steps(below(key_of(place, "steps"), most + 1));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::uint64_t number = below(key_of(place, i), vocabulary.size());
      steps[i] = vocabulary.step(static_cast<unsigned>(number));
    }
    return steps;
  }

 private:
  backend::Chooser& chooser_;
};

}  // namespace

properties::Program drawn_program(backend::Chooser& chooser, const properties::Profile& profile) {
  constexpr std::uint64_t kEvents = key_of("program.event");
  constexpr std::uint64_t kBodies = key_of("program.body");
  constexpr std::uint64_t kCallbacks = key_of("program.callback");
  Drawer drawer(chooser);
  Program program;
  program.events.resize(1 + drawer.below(kEvents, 4));
  for (std::size_t i = 0; i < program.events.size(); ++i) {
    const std::uint64_t number = drawer.below(key_of(kEvents, i), profile.events.total());
    const auto event = profile.events.choose(static_cast<unsigned>(number));
    program.events[i] = static_cast<properties::ProgramEvent>(event);
  }
  program.bodies.resize(1 + 3 + drawer.below(kBodies, 8));
  for (std::size_t i = 0; i < program.bodies.size(); ++i) {
    program.bodies[i] =
        drawer.steps(key_of(kBodies, i), i == 0 ? profile.main : profile.body, i == 0 ? 40 : 16);
  }
  program.callbacks.resize(1 + drawer.below(kCallbacks, 4));
  for (std::size_t i = 0; i < program.callbacks.size(); ++i) {
    program.callbacks[i] = drawer.steps(key_of(kCallbacks, i), profile.callback, 8);
  }
  return program;
}

}  // namespace fermata::fuzz
