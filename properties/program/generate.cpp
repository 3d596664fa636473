// SPDX-License-Identifier: Apache-2.0
#include "properties/program/generate.hpp"

#include <algorithm>
#include <string>

namespace fermata::properties {
namespace {

constexpr int kSize = 100;

/// Between `least` and `most` of something.
template <class T>
rc::Gen<std::vector<T>> several(std::size_t least, std::size_t most, const rc::Gen<T>& one) {
  return rc::gen::mapcat(rc::gen::inRange<std::size_t>(least, most + 1), [one](std::size_t count) {
    return rc::gen::container<std::vector<T>>(count, one);
  });
}

/// A list of up to `most` that shrinks by leaving things out.
template <class T>
rc::Gen<std::vector<T>> up_to(int most, const rc::Gen<T>& one) {
  return rc::gen::resize(most, rc::gen::container<std::vector<T>>(one));
}

rc::Gen<Step> steps(const Ops& ops) {
  // One number for each part; smaller is simpler, and that is the way RapidCheck shrinks.
  return rc::gen::map(rc::gen::resize(kSize, rc::gen::inRange<unsigned>(0, step_choices(ops))),
                      [ops](unsigned number) { return step_of(ops, number); });
}

rc::Gen<Subject> subjects(const Subjects& events) {
  return rc::gen::map(rc::gen::resize(kSize, rc::gen::inRange<unsigned>(0, events.total())),
                      [events](unsigned number) { return events.choose(number); });
}

}  // namespace

unsigned step_choices(const Ops& ops) { return ops.total() * 64; }

Step step_of(const Ops& ops, unsigned number) {
  Step step;
  step.number = static_cast<std::uint8_t>(number % 8);
  step.subject = static_cast<std::uint8_t>(number / 8 % 8);
  step.op = ops.choose(number / 64);
  return step;
}

rc::Gen<Program> programs(const Profile& profile) {
  return rc::gen::apply(
      [](std::vector<Subject> events, Script main, std::vector<Script> bodies,
         std::vector<Script> callbacks) {
        Program program;
        program.events = std::move(events);
        program.bodies = std::move(bodies);
        program.bodies.insert(program.bodies.begin(), std::move(main));
        program.callbacks = std::move(callbacks);
        return program;
      },
      several(1, 4, subjects(profile.events)), up_to(40, steps(profile.main)),
      several(3, 10, up_to(16, steps(profile.body))),
      several(1, 4, up_to(8, steps(profile.callback))));
}

rc::Shrinkable<Program> shrinkable_program(const Profile& profile, std::uint64_t seed) {
  return programs(profile)(rc::Random(seed), kSize);
}

}  // namespace fermata::properties
