// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/failure.hpp"

#include <algorithm>
#include <iterator>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

const char* to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Safety:
      return "safety";
    case Verdict::Liveness:
      return "liveness";
    case Verdict::Deadlock:
      return "deadlock";
    case Verdict::Nondeterminism:
      return "nondeterminism";
    case Verdict::Leak:
      return "leak";
    case Verdict::Divergence:
      return "divergence";
    case Verdict::Missed:
      return "missed";
  }
  return "safety";
}

int exit_code(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::Safety:
      return 2;
    case Verdict::Liveness:
      return 3;
    case Verdict::Deadlock:
      return 4;
    case Verdict::Nondeterminism:
      return 5;
    case Verdict::Leak:
      return 6;
    case Verdict::Divergence:
      return 8;
    case Verdict::Missed:
      return 7;
  }
  return 2;
}

bool outweighs(Verdict a, Verdict b) noexcept {
  static constexpr Verdict kHeaviestFirst[] = {
      Verdict::Nondeterminism, Verdict::Safety, Verdict::Deadlock, Verdict::Liveness,
      Verdict::Divergence,     Verdict::Leak,   Verdict::Missed};
  const auto rank = [](Verdict verdict) {
    return std::find(std::begin(kHeaviestFirst), std::end(kHeaviestFirst), verdict);
  };
  FERMATA_ASSERT(rank(a) != std::end(kHeaviestFirst));
  FERMATA_ASSERT(rank(b) != std::end(kHeaviestFirst));
  return rank(a) < rank(b);
}

std::string Failure::signature() const {
  std::string text = std::string(to_string(verdict)) + ": ";
  bool in_number = false;
  for (const char c : message) {
    if (c == '\n') break;
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      text += c;
    } else if (!in_number) {
      text += '#';
    }
    in_number = digit;
  }
  return text;
}

}  // namespace fermata::sim
