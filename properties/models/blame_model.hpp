// SPDX-License-Identifier: Apache-2.0
#pragma once

// What must be said of a program in which some coroutines can never go on: who they are, and of
// each group what is wrong and whose doing that was. Whoever is not known here is not to blame.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/models/complaint.hpp"

namespace fermata::models {

/// One thing that is wrong.
struct Blame {
  struct Culprit {
    std::string who;  // Empty: it is nobody's doing.
    std::string did;
    std::string woke;
    friend bool operator==(const Culprit&, const Culprit&) = default;
  };

  std::string kind;
  std::string object;  // What they wait for; empty for a cycle.
  std::vector<std::string> waiters;
  std::vector<std::pair<std::string, std::string>> cycle;  // Who waits, and for what.
  Culprit culprit;

  friend bool operator==(const Blame&, const Blame&) = default;

  [[nodiscard]] std::string text() const {
    std::string text = kind + " of " + object;
    for (const auto& [who, what] : cycle) text += who + " --" + what + "--> ";
    text += " for";
    for (const std::string& each : waiters) text += " " + each;
    return text + " by '" + culprit.who + "', who " + culprit.did + " and woke '" + culprit.woke +
           "'";
  }
};

class BlameModel {
 public:
  enum class Fate : std::uint8_t {
    Waits,     // somebody might still help, but nobody does
    Hopeless,  // nobody can, unless he cancels it
    Stuck,     // nor could anybody, without a handle
  };

  /// What the next coroutine with that label is called.
  std::string name_of(const std::string& label) {
    const std::size_t number = ++namesakes_[label];
    const std::string name = number == 1 ? label : label + " #" + std::to_string(number);
    labels_[name] = label;
    return name;
  }
  /// It waits, from some time on. Called in the order in which they are started.
  void waits(const std::string& name, Fate fate) { waiting_.emplace_back(name, fate); }
  /// It waits too, and will wake.
  void sleeps(const std::string& name) { sleeping_.push_back(name); }
  void blame(Blame blame) { blames_.push_back(std::move(blame)); }

  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
  /// The coroutines whose fate is at least that bad, as in the headline of a failure.
  [[nodiscard]] std::string headline(Fate fate) const {
    std::string text;
    for (const auto& [name, its_fate] : waiting_) {
      if (its_fate < fate) continue;
      text += (text.empty() ? "'" : ", '") + labels_.at(name) + "'";
    }
    return text;
  }

  [[nodiscard]] Complaint judge_blames(std::vector<Blame> told) const {
    for (const Blame& expected : blames_) {
      const auto found = std::find(told.begin(), told.end(), expected);
      if (found == told.end()) {
        return "BLAME: nobody is told of " + expected.text() +
               (told.empty() ? "" : "; instead of " + told.front().text());
      }
      told.erase(found);
    }
    return told.empty() ? Complaint() : "BLAME: there is no " + told.front().text();
  }
  /// `told` has all who wait but the main coroutine, in the order of their starts, and whether they
  /// are said to sleep.
  [[nodiscard]] Complaint judge_waits(const std::map<std::string, bool>& told,
                                      bool sleepers_are_left) const {
    std::map<std::string, bool> expected;
    for (const auto& each : waiting_) expected.emplace(each.first, false);
    for (const std::string& each : sleeping_) {
      if (sleepers_are_left) expected.emplace(each, true);
    }
    if (told == expected) return {};
    for (const auto& [name, sleeps] : told) {
      const auto found = expected.find(name);
      if (found == expected.end()) return "BLAME: " + name + " does not wait";
      if (found->second != sleeps) return "BLAME: does " + name + " sleep?";
    }
    return "BLAME: somebody who waits is left out";
  }

 private:
  std::map<std::string, std::size_t> namesakes_;
  std::map<std::string, std::string> labels_ = {{"main", "main"}};
  std::vector<std::pair<std::string, Fate>> waiting_;
  std::vector<std::string> sleeping_;
  std::vector<Blame> blames_;
};

}  // namespace fermata::models
