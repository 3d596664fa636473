// SPDX-License-Identifier: Apache-2.0
#pragma once

// The places of a program where an assertion stands, all of them known before main(), also those
// in functions that nobody calls. Only a template that is never instantiated has none. The list is
// complete once main() has begun and never changes then; a library that is loaded later adds its
// own, on the thread that loads it.

#include <cstdint>

namespace fermata::backend {

enum class AssertionKind : std::uint8_t {
  Always,       // must hold whenever it is reached
  Unreachable,  // must not be reached
  Sometimes,    // must hold at least once in an exploration
  Reachable,    // must be reached at least once in an exploration
  Eventually,   // must come to hold each time it is reached
};

/// One macro in one place. The kind and the message are the identity of what it claims: sites of
/// the same kind and message are one claim, wherever they stand.
struct AssertionSite {
  AssertionKind kind = AssertionKind::Always;
  /// Whether it compares numbers, and so has a slack.
  bool numeric = false;
  /// Counts the sites of the program from 0.
  std::uint32_t index = 0;
  const char* message = "";
  /// The condition as written in the program; empty when there is none.
  const char* condition = "";
  /// For display only.
  const char* file = "";
  int line = 0;
  const AssertionSite* next = nullptr;

  /// Some run of an exploration must meet it.
  [[nodiscard]] constexpr bool is_obligation() const noexcept {
    return kind == AssertionKind::Sometimes || kind == AssertionKind::Reachable;
  }
};

}  // namespace fermata::backend

namespace fermata {

namespace detail {

inline constinit const backend::AssertionSite* first_assertion_site = nullptr;

class AssertionRegistration {
 public:
  explicit AssertionRegistration(backend::AssertionSite& site) noexcept {
    site.index = first_assertion_site != nullptr ? first_assertion_site->index + 1 : 0;
    site.next = first_assertion_site;
    first_assertion_site = &site;
  }
};

[[nodiscard]] constexpr backend::AssertionSite site_of(backend::AssertionKind kind, bool numeric,
                                                       const char* message, const char* condition,
                                                       const char* file, int line) noexcept {
  return {kind, numeric, 0, message, condition, file, line, nullptr};
}

/// The site that `Here` describes.
template <class Here>
struct SiteOf {
  static inline constinit backend::AssertionSite site = Here::site();
  static inline const AssertionRegistration registration{site};

  [[nodiscard]] static const backend::AssertionSite& get() noexcept {
    static_cast<void>(&registration);  // This use is what makes it known.
    return site;
  }
};

}  // namespace detail

}  // namespace fermata

namespace fermata::backend {

/// The head of the list of all sites, which goes on with `next`; null when there is none.
[[nodiscard]] inline const AssertionSite* assertion_sites() noexcept {
  return detail::first_assertion_site;
}

/// Every index is below this.
[[nodiscard]] inline std::uint32_t assertion_site_count() noexcept {
  return detail::first_assertion_site != nullptr ? detail::first_assertion_site->index + 1 : 0;
}

}  // namespace fermata::backend
