// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/scripts/comparison.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "fermata/sim/strategy/make_strategy.hpp"
#include "fermata/sim/tape/decisions.hpp"
#include "fermata/sim/world/world.hpp"
#include "tests/posix/scripts/real_system.hpp"

namespace fermata::test {

namespace {

using Answers = std::vector<Answer>;

/// How many differences are told before the rest is not run any more.
constexpr std::size_t kMostTold = 5;

std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What is under way arrives between the steps.
Answers perform_in_world(const Comparison& comparison, const Script& script) {
  constexpr useconds_t kLong = 10'000;
  const auto strategy = sim::make_strategy("fifo");
  sim::Decisions decisions(*strategy);
  sim::WorldOptions options;
  options.faults = sim::FaultSet::none();
  sim::World world(decisions, options);
  Answers answers;
  world.node("main", [&] {
    comparison.prepare();
    answers = perform(script, [] { ::usleep(kLong); });
  });
  world.run();
  if (world.failure()) ADD_FAILURE() << world.failure()->message;
  return answers;
}

bool alike(const Answers& a, const Answers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Answer& x, const Answer& y) {
    return x.call == y.call && x.result == y.result;
  });
}

// The system gets some time between the steps: what was only late does not count.
bool differs(const Comparison& comparison, const Script& script) {
  return !alike(perform_on_linux({&script, 1}, comparison.prepare, true)[0],
                perform_in_world(comparison, script));
}

/// Without what the difference does not need.
Script shrunk(const Comparison& comparison, Script script) {
  for (std::size_t part = script.size() / 2; part > 0; part /= 2) {
    for (std::size_t at = script.size(); at >= part; --at) {
      Script shorter = script;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(at - part);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(part));
      if (!differs(comparison, shorter)) continue;
      script = std::move(shorter);
      at = std::min(at, script.size() + 1);
    }
  }
  return script;
}

std::string in_words(const Comparison& comparison, const Script& script) {
  const Answers real = perform_on_linux({&script, 1}, comparison.prepare, true)[0];
  const Answers simulated = perform_in_world(comparison, script);
  std::string text;
  for (std::size_t i = 0; i < real.size(); ++i) {
    text += "  " + real[i].call + ": " + real[i].result;
    if (i < simulated.size() && simulated[i].result != real[i].result) {
      text += "   <-- in the world: " + simulated[i].result;
    }
    text += "\n";
  }
  return text;
}

}  // namespace

void compare_with_linux(const Comparison& comparison) {
  constexpr std::uint64_t kBatch = 250;
  const std::uint64_t first = number_from_environment("FIRST_SCRIPT", 0);
  const std::uint64_t end = first + number_from_environment("SCRIPTS", comparison.scripts);
  std::size_t told = 0;
  for (std::uint64_t begin = first; begin < end && told < kMostTold; begin += kBatch) {
    std::vector<Script> scripts;
    for (std::uint64_t i = begin; i < std::min(begin + kBatch, end); ++i) {
      scripts.push_back(comparison.draw(i));
    }
    const std::vector<Answers> real = perform_on_linux(scripts, comparison.prepare, false);
    for (std::size_t i = 0; i < scripts.size() && told < kMostTold; ++i) {
      if (alike(real[i], perform_in_world(comparison, scripts[i]))) continue;
      if (!differs(comparison, scripts[i])) continue;
      ++told;
      ADD_FAILURE() << "script " << begin + i << ":\n"
                    << in_words(comparison, shrunk(comparison, scripts[i]));
    }
  }
}

}  // namespace fermata::test
