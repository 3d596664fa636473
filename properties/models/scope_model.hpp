// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a tree of scopes promises about its members: who may begin, who is cancelled and who runs
// on, when a scope is complete, and in which order scopes end. Nothing here knows how that is done.

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

class ScopeModel {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};

  /// Parents come before their children.
  std::size_t add_scope(std::size_t parent, bool safe) {
    scopes_.push_back({parent, safe, Wave::None, 0});
    return scopes_.size() - 1;
  }

  /// Whether a spawn must succeed; otherwise it must be refused.
  [[nodiscard]] bool takes(std::size_t scope) const { return scopes_[scope].wave == Wave::None; }

  [[nodiscard]] bool all_take() const {
    return std::all_of(scopes_.begin(), scopes_.end(),
                       [](const ScopeState& scope) { return scope.wave == Wave::None; });
  }

  std::size_t spawned(std::size_t scope) {
    members_.push_back({scope});
    return members_.size() - 1;
  }

  [[nodiscard]] Complaint began(std::size_t member) {
    members_[member].began = true;
    if (!members_[member].doomed) return {};
    return "CORE-SP-07: " + text(member) + " begins though its scope had been cancelled";
  }

  void cancelled(std::size_t scope) {
    strike(scope, scopes_[scope].safe ? Wave::Safe : Wave::Hard);
  }
  void cancelled_safely(std::size_t scope) { strike(scope, Wave::Safe); }
  void cancelled_hard(std::size_t scope) { strike(scope, Wave::Hard); }
  /// One member alone. Safely, it runs on when it has begun.
  void member_cancelled(std::size_t member, bool safely) {
    strike(members_[member], safely ? Wave::Safe : Wave::Hard);
  }

  /// `by_cancellation`: its body was not run, or left by one.
  [[nodiscard]] Complaint ended(std::size_t member, bool by_cancellation) {
    Member& one = members_[member];
    if (std::exchange(one.ended, true)) return "CORE-CO-01: " + text(member) + " ends twice";
    if (by_cancellation == one.doomed) return {};
    return by_cancellation ? "CORE-SP-05: " + text(member) + " is cancelled and should run on"
                           : "CORE-SP-04: " + text(member) + " escapes the cancellation";
  }

  /// An await for the completion has returned.
  [[nodiscard]] Complaint completed(std::size_t scope) const {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (alive_inside(i, scope) && !members_[i].zombie) {
        return "CORE-SP-03: scope " + std::to_string(scope) + " is complete with " + text(i);
      }
    }
    return {};
  }

  /// An await after the cancellation has returned, or the scope has closed.
  [[nodiscard]] Complaint emptied(std::size_t scope) const {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (alive_inside(i, scope)) {
        return "CORE-SP-03: scope " + std::to_string(scope) + " is empty with " + text(i);
      }
    }
    return {};
  }

  [[nodiscard]] Complaint finally_ran(std::size_t scope) {
    const std::string who = "CORE-SP-10: the finally handler of scope " + std::to_string(scope);
    if (++scopes_[scope].finally_runs > 1) return who + " runs again";
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (scopes_[i].parent == scope && scopes_[i].finally_runs == 0) {
        return who + " runs before that of scope " + std::to_string(i);
      }
    }
    return emptied(scope).empty() ? Complaint() : who + " runs before its members have ended";
  }

  [[nodiscard]] bool has_run_finally(std::size_t scope) const {
    return scopes_[scope].finally_runs > 0;
  }

  /// What it must be when nothing can happen any more.
  [[nodiscard]] Complaint at_rest(std::size_t scope, bool idle, bool closed) const {
    const std::string who = "scope " + std::to_string(scope);
    if (idle != completed(scope).empty()) {
      return "CORE-SP-01: " + who + (idle ? " is idle with active members" : " is busy with none");
    }
    if (!takes(scope) && emptied(scope).empty() && !closed) {
      return "CORE-SP-14: " + who + " is cancelled and empty, and has not closed";
    }
    const std::size_t parent = scopes_[scope].parent;
    if (parent != kNone && !closed && scopes_[parent].finally_runs > 0) {
      return "CORE-SP-11: " + who + " is open after its parent has closed";
    }
    return {};
  }

  [[nodiscard]] Complaint at_end() const {
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (scopes_[i].finally_runs == 1) continue;
      return "CORE-GL-10: the finally handler of scope " + std::to_string(i) + " did not run";
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!members_[i].ended) return "CORE-SP-04: " + text(i) + " outlives its scope";
    }
    return {};
  }

 private:
  enum class Wave { None, Safe, Hard };

  struct ScopeState {
    std::size_t parent;
    bool safe;
    Wave wave;
    int finally_runs;
  };
  struct Member {
    std::size_t scope;
    bool began = false;
    bool zombie = false;
    bool doomed = false;
    bool ended = false;
  };

  void strike(std::size_t scope, Wave wave) {
    if (wave <= scopes_[scope].wave) return;
    scopes_[scope].wave = wave;
    for (std::size_t i = 0; i < scopes_.size(); ++i) {
      if (scopes_[i].parent == scope) strike(i, wave);
    }
    for (Member& member : members_) {
      if (member.scope == scope) strike(member, wave);
    }
  }
  static void strike(Member& member, Wave wave) {
    if (member.ended) return;
    (wave == Wave::Safe && member.began ? member.zombie : member.doomed) = true;
  }

  [[nodiscard]] bool alive_inside(std::size_t member, std::size_t scope) const {
    if (members_[member].ended) return false;
    std::size_t each = members_[member].scope;
    while (each != kNone && each != scope) each = scopes_[each].parent;
    return each == scope;
  }

  [[nodiscard]] std::string text(std::size_t member) const {
    return "member " + std::to_string(member) + " of scope " +
           std::to_string(members_[member].scope);
  }

  std::vector<ScopeState> scopes_;
  std::vector<Member> members_;
};

}  // namespace fermata::models
