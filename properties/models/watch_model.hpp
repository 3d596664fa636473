// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one watch owes to whoever takes its events: what was changed while it was open must be told
// afterwards, by its name or by an event without one; nothing else may be told.
//
// Young directories  Nobody can watch a directory before it is there. What changes in one that came
//                    not long ago must be told only if it is there in the end, or if it had been
//                    told while it was there; that the directory has come is enough then: what is
//                    in it is told, too.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/models/complaint.hpp"
#include "properties/models/tree_model.hpp"

namespace fermata::models {

class WatchModel {
 public:
  enum Bits : unsigned { kNone = 0, kRename = 1, kChange = 2 };

  struct Scope {
    std::string root;
    bool is_file = false;
    bool recursive = false;
    std::string extension;  // Empty: all names.
    bool nameless = false;  // Everything is told without a name.
  };

  explicit WatchModel(Scope scope, std::uint64_t tick) : scope_(std::move(scope)), begun_(tick) {}

  [[nodiscard]] const Scope& scope() const { return scope_; }

  // --- its life ---

  void ready(std::uint64_t tick) { ready_ = tick; }
  void closed() {
    closed_ = true;
    debts_.clear();
  }
  /// Its root was removed, moved or replaced.
  void root_gone() {
    root_gone_ = true;
    std::erase_if(debts_, [](const Debt& debt) { return debt.is_young; });
  }
  /// Its root has moved with a directory that it is in: nobody knows what it is worth.
  void astray() {
    astray_ = true;
    debts_.clear();
  }
  [[nodiscard]] bool is_closed() const { return closed_; }
  [[nodiscard]] bool is_root_gone() const { return root_gone_; }
  [[nodiscard]] bool is_astray() const { return astray_; }

  // --- what is changed ---

  /// The name at `path` has come or gone, or its contents have changed, after `since`; `tree` is as
  /// it was before, if it has gone.
  void changed(const std::string& path, unsigned bits, bool gone, const TreeModel::Moment& since,
               const TreeModel& tree) {
    if (!sees(path)) return;
    const std::string name = name_of(path);
    may_be_told(name, since);
    if (!owes(since.tick) || !passes(name)) return;
    const TreeModel::Moment youngest = tree.youngest_between(scope_.root, path);
    const bool is_young = youngest.tick > begun_ && since.at < youngest.at + kYouth;
    if (is_young && gone) {
      const bool is_known = told_since(name, tree.find(path)->since.tick) != kNone;
      if (!is_known || !scope_.extension.empty()) return;
    }
    debts_.push_back({path, name, is_young ? kNone : bits, since.tick, is_young, gone});
  }
  /// Maybe.
  void may_have_changed(const std::string& path, const TreeModel::Moment& since) {
    if (sees(path)) may_be_told(name_of(path), since);
  }
  /// It has come with a directory that it is in.
  void moved_in(const std::string& path, const TreeModel::Moment& since) {
    if (!sees(path)) return;
    may_be_told(name_of(path), since);
    if (owes(since.tick) && passes(name_of(path))) {
      debts_.push_back({path, name_of(path), kNone, since.tick, true, false});
    }
  }

  // --- what is told ---

  /// `lossy`: the system may have lost something.
  [[nodiscard]] Complaint told(const std::string& name, unsigned bits, std::uint64_t tick,
                               bool lossy) {
    told_[name].emplace_back(tick, bits);
    if (bits == kNone) return "FS-02 (VAL): an event says that nothing has happened";
    if (name.empty()) {
      if (lossy || scope_.nameless) return {};
      return "FS-01 (VAL): a rescan is asked for, and nothing was lost";
    }
    if (scope_.nameless) return "FS-03 (VAL): a debounced event has a name, " + name;
    if (!passes(name)) return "FS-06 (VAL): told of " + name + ", which has another extension";
    if (!may_be_told_.contains(name)) unexplained_.emplace_back(name, tick);
    return {};
  }

  /// Time enough has passed, and all that was told was taken.
  [[nodiscard]] Complaint settled(const TreeModel& tree, bool lossy) {
    for (const auto& [name, tick] : std::exchange(unexplained_, {})) {
      const auto found = may_be_told_.find(name);
      if (astray_ || (found != may_be_told_.end() && found->second < tick)) continue;
      return "FS-01 (VAL): told of " + name + " in " + scope_.root + ", where nothing had happened";
    }
    const bool let_off = root_gone_ && lossy;
    for (const Debt& debt : std::exchange(debts_, {})) {
      const bool is_void = debt.is_young && !debt.gone && tree.find(debt.path) == nullptr;
      if (let_off || is_void || (debt.is_young && debt.gone && told_above(debt))) continue;
      if (told_since({}, debt.since) != kNone) continue;
      const unsigned told = told_since(debt.name, debt.since);
      if (told != kNone && (debt.bits & ~told) == 0) continue;
      return "FS-01 (VAL): " + debt.path + " was changed, and the watch of " + scope_.root +
             (told == kNone ? " was not told" : " was told something else");
    }
    return {};
  }

 private:
  /// Longer than the walk through a directory and the events of its coming take.
  static constexpr Duration kYouth = std::chrono::seconds(30);

  struct Debt {
    std::string path, name;
    unsigned bits;  // That must be among what is told.
    std::uint64_t since;
    bool is_young;  // Void, unless it has gone, when it is not there in the end.
    bool gone;
  };

  [[nodiscard]] bool owes(std::uint64_t tick) const {
    return ready_ != 0 && ready_ < tick && !closed_ && !root_gone_ && !astray_;
  }
  [[nodiscard]] bool sees(const std::string& path) const {
    if (scope_.is_file) return path == scope_.root;
    if (!is_below(path, scope_.root)) return false;
    return scope_.recursive || name_of(path).find('/') == std::string::npos;
  }
  [[nodiscard]] std::string name_of(const std::string& path) const {
    return path.substr(scope_.is_file ? path.rfind('/') + 1 : scope_.root.size() + 1);
  }
  void may_be_told(const std::string& name, const TreeModel::Moment& since) {
    may_be_told_.try_emplace(name, since.tick);
  }
  [[nodiscard]] bool passes(const std::string& name) const {
    return scope_.extension.empty() || name.ends_with("." + scope_.extension);
  }
  [[nodiscard]] unsigned told_since(const std::string& name, std::uint64_t tick) const {
    unsigned bits = kNone;
    const auto found = told_.find(scope_.nameless ? std::string() : name);
    if (found == told_.end()) return bits;
    for (const auto& [when, told] : found->second) {
      if (when > tick) bits |= told;
    }
    return bits;
  }

  /// Whether a directory that it was in is told to have come or gone.
  [[nodiscard]] bool told_above(const Debt& debt) const {
    for (std::size_t at = 0; (at = debt.name.find('/', at)) != std::string::npos; ++at) {
      if ((told_since(debt.name.substr(0, at), debt.since) & kRename) != 0) return true;
    }
    return false;
  }

  Scope scope_;
  std::uint64_t begun_;
  std::uint64_t ready_ = 0;
  bool closed_ = false;
  bool root_gone_ = false;
  bool astray_ = false;
  std::vector<Debt> debts_;
  std::map<std::string, std::uint64_t> may_be_told_;                // After which moment.
  std::vector<std::pair<std::string, std::uint64_t>> unexplained_;  // Told before it was known.
  std::map<std::string, std::vector<std::pair<std::uint64_t, unsigned>>> told_;
};

}  // namespace fermata::models
