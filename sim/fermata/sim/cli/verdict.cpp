// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/cli/verdict.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fermata/sim/record/failure.hpp"

namespace fermata::sim::cli {
namespace {

constexpr std::array kHeaviestFirst = {9, 5, 2, 4, 3, 8, 124, 6, 7, 0};
constexpr std::array<std::pair<std::string_view, int>, 3> kClasses = {
    {{"crash", 9}, {"hang", 124}, {"obligation", 7}}};

}  // namespace

int exit_code_of(std::string_view failure_class) noexcept {
  for (const auto& [name, code] : kClasses) {
    if (name == failure_class) return code;
  }
  for (const Verdict verdict : {Verdict::Liveness, Verdict::Deadlock, Verdict::Nondeterminism,
                                Verdict::Leak, Verdict::Divergence}) {
    if (failure_class == to_string(verdict)) return exit_code(verdict);
  }
  return exit_code(Verdict::Safety);
}

int heavier(int a, int b) noexcept {
  return std::find(kHeaviestFirst.begin(), kHeaviestFirst.end(), a) <
                 std::find(kHeaviestFirst.begin(), kHeaviestFirst.end(), b)
             ? a
             : b;
}

}  // namespace fermata::sim::cli
