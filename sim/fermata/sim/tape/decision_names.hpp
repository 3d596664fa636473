// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the coroutines of a run are called in reports, and the sentences of its decisions. They cost
// memory and time, so they are made only while somebody wants them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fermata/sim/tape/decision.hpp"

namespace fermata::sim {

/// Makes the sentence of a decision: "the rename 'a' -> 'b' is lost". It names the thing that the
/// draw is about, and amounts with their units.
template <class T>
concept Teller = std::is_invocable_r_v<std::string, const T&, const Decision&>;

class DecisionNames {
 public:
  DecisionNames() = default;
  DecisionNames(const DecisionNames&) = delete;
  DecisionNames& operator=(const DecisionNames&) = delete;

  /// Whether somebody wants to read names; off while exploring.
  [[nodiscard]] bool wanted() const noexcept { return wanted_; }
  void set_wanted(bool wanted) noexcept { wanted_ = wanted; }

  /// Forgets all names.
  void clear();

  /// What came of the decision with `key`; empty where that goes without saying. Said again, it
  /// takes the place of what was said before. REQUIRES: wanted().
  void set_sentence(std::uint64_t key, std::string sentence);

  /// A coroutine called `name` was spawned by `parent` after so many others of this name.
  void add_coroutine(std::uint64_t path, std::uint64_t parent, std::string_view name) {
    if (wanted_) [[unlikely]] {
      set_coroutine(path, parent, name);
    }
  }

  /// Names of coroutines and sentences of decisions, by key.
  [[nodiscard]] const KeyNames& all() const noexcept { return names_; }
  /// Where each coroutine comes from that was spawned while names were wanted.
  [[nodiscard]] const Origins& origins() const noexcept { return origins_; }

 private:
  void set_coroutine(std::uint64_t path, std::uint64_t parent, std::string_view name);

  bool wanted_ = false;
  KeyNames names_;
  Origins origins_;
  std::map<std::uint64_t, std::uint32_t> children_;  // How many each path has spawned.
  std::map<std::uint64_t, std::uint64_t> roots_;     // By path: that of the program's first one.
  /// How often there is a name among those of one root.
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> namesakes_;
};

}  // namespace fermata::sim
