// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who is primary and who is backup: a sequence of views, each told by one arbiter. A view follows
// another only when its primary has said that the backup has everything.

#include <sstream>
#include <string>

#include "examples/replication/wire.hpp"

struct View {
  int number = 0;
  std::string primary = "-";  // "-": nobody.
  std::string backup = "-";

  [[nodiscard]] std::string text() const {
    return std::to_string(number) + " " + primary + " " + backup;
  }
  static View parse(const std::string& text) {
    View view;
    std::istringstream(text) >> view.number >> view.primary >> view.backup;
    return view;
  }
};

class Arbiter {
 public:
  /// Answers "here NAME N", by a member that has done what view N asks of it, and "who", by
  /// anybody: with the present view.
  std::string answer(const std::string& question) {
    std::istringstream words(question);
    std::string kind;
    std::string name;
    int number = 0;
    words >> kind >> name >> number;
    if (kind == "here") {
      heard_[name] = fermata::now();
      if (name == view_.primary && number == view_.number) ready_ = true;
    }
    reconsider();
    return view_.text();
  }

  [[nodiscard]] const View& view() const { return view_; }

 private:
  static constexpr std::chrono::milliseconds kSilence{1000};

  void reconsider() {
    if (!ready_) return;
    View next = view_;
    if (!alive(next.backup)) next.backup = "-";
    if (!alive(next.primary)) {
      if (next.backup == "-" && next.primary != "-") return;  // Nobody else knows everything.
      next.primary = std::exchange(next.backup, "-");
    }
    for (const auto& [name, when] : heard_) {
      if (!alive(name) || name == next.primary || name == next.backup) continue;
      std::string& place = next.primary == "-" ? next.primary : next.backup;
      if (place == "-") place = name;
    }
    if (next.primary == view_.primary && next.backup == view_.backup) return;
    next.number = view_.number + 1;
    view_ = next;
    ready_ = false;
  }

  [[nodiscard]] bool alive(const std::string& name) const {
    const auto found = heard_.find(name);
    return found != heard_.end() && fermata::now() - found->second < kSilence;
  }

  View view_;
  bool ready_ = true;  // The primary of the view has its backup up to date.
  std::map<std::string, fermata::Instant> heard_;
};
