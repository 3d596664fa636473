// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the assertions of a program came to in an exploration. Catalogues of parts of it, of several
// tests and of several programs add up: an obligation is met when it is met anywhere.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/core/assertion_site.hpp"

namespace fermata::sim {

/// "always", "unreachable", "sometimes", "reachable", "eventually".
[[nodiscard]] std::string_view to_string(backend::AssertionKind kind) noexcept;
/// Parses what to_string() returns; UsageError for anything else.
[[nodiscard]] backend::AssertionKind assertion_kind_of(std::string_view text);

/// Counts of one site, or of all sites of one message. The slack of a comparison is how far its
/// numbers are inside the bound, or outside when negative: the most slack of a `sometimes` that
/// never held says how near it came, the least of an `always` how near it was to failing.
struct AssertionCounts {
  std::uint64_t reached = 0;
  std::uint64_t held = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();

  void add(bool holds, std::int64_t slack) noexcept {
    ++reached;
    if (holds) ++held;
    least = std::min(least, slack);
    most = std::max(most, slack);
    FERMATA_ASSERT(held <= reached);
    FERMATA_ASSERT(least <= most);
  }
  void add(const AssertionCounts& other) noexcept {
    reached += other.reached;
    held += other.held;
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

/// One claim: all sites of one kind and message.
struct Claim {
  backend::AssertionKind kind = backend::AssertionKind::Always;
  bool numeric = false;  // All of its sites compare numbers: else the slack says nothing.
  std::string message;
  /// The place of its first site: "bank.cpp:12".
  std::string place;
  std::string condition;
  AssertionCounts counts;

  [[nodiscard]] bool is_obligation() const noexcept {
    return kind == backend::AssertionKind::Sometimes || kind == backend::AssertionKind::Reachable;
  }
  [[nodiscard]] bool is_missed() const noexcept { return is_obligation() && counts.held == 0; }
  /// "sometimes 'a request is retried' (retries > 0) at client.cpp:12: reached 40 times, ...".
  [[nodiscard]] std::string text() const;
};

class Catalogue {
 public:
  /// Every claim of this program; `counts` are those of its sites, by index, and may be fewer.
  [[nodiscard]] static Catalogue of_program(std::span<const AssertionCounts> counts);

  /// Adds a claim, or its counts to those of the claim that is known.
  void add(const Claim& claim);
  void add(const Catalogue& other);

  /// In the order of kind and message.
  [[nodiscard]] std::vector<Claim> claims() const;
  [[nodiscard]] std::vector<Claim> missed() const;
  [[nodiscard]] std::size_t obligations() const noexcept;

 private:
  std::map<std::pair<backend::AssertionKind, std::string>, Claim> claims_;
};

}  // namespace fermata::sim
