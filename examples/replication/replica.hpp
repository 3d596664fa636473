// SPDX-License-Identifier: Apache-2.0
#pragma once

// A log on two machines. The primary does nothing without its backup: what it says is true has been
// confirmed by whoever would be primary after it. So one that has been replaced, and does not know,
// can neither take an entry nor read an old log.

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "examples/replication/arbiter.hpp"
#include "examples/replication/wire.hpp"

class Replica {
 public:
  Replica(std::string name, Members members)
      : name_(std::move(name)), members_(std::move(members)) {}

  /// From clients "append ENTRY" and "read"; from the primary of view N "copy N S LOG", "add N S
  /// ENTRY" and "still N S", where S grows. Answers "no" to whatever it must not do. Entries are
  /// words, each of its own.
  std::string answer(const std::string& question) {
    std::istringstream words(question);
    std::string kind;
    words >> kind;
    if (kind == "append" || kind == "read") {
      std::string entry;
      words >> entry;
      const fermata::Mutex::Guard guard(busy_);
      return kind == "append" ? append(entry) : read();
    }
    int number = 0;
    int sequence = 0;
    words >> number >> sequence;
    if (number < view_.number || is_primary()) return "no";
    if (number > view_.number) {
      if (kind != "copy") return "no";
      view_ = {number, "-", name_};
      last_heard_ = 0;
    }
    // What the primary has given up may arrive after what it did next.
    if (sequence <= std::exchange(last_heard_, std::max(sequence, last_heard_))) return "no";
    if (kind == "copy") log_.clear();
    for (std::string entry; words >> entry;) add(entry);
    return "yes";
  }

  /// Asks the arbiter what to be, and is it.
  void ping() {
    const auto answer = ask(members_.at("arbiter"),
                            "here " + name_ + " " + std::to_string(up_to_date_ ? view_.number : 0));
    if (!answer) return;
    const View next = View::parse(*answer);
    if (next.number > view_.number) {
      view_ = next;
      up_to_date_ = false;
      last_heard_ = 0;
    }
    if (next.number == view_.number) view_ = next;  // A copy tells the number alone.
    if (is_primary() && !up_to_date_) bring_backup_up_to_date();
  }

 private:
  // --- as primary; one thing at a time ---

  std::string append(const std::string& entry) {
    if (!up_to_date_ || !backup_does("add", " " + entry)) return "no";
    add(entry);
    return "yes";
  }

  std::string read() {
    // The backup has to confirm what changes nothing, too: it may be primary by now.
    if (!up_to_date_ || !backup_does("still", "")) return "no";
    return "yes" + text();
  }

  /// When it does not answer nobody knows what it has: then it needs all of the log again.
  bool backup_does(const std::string& kind, const std::string& words) {
    if (!is_primary()) return false;
    if (view_.backup == "-") return true;
    const int number = view_.number;
    const auto answer = ask(members_.at(view_.backup), kind + " " + std::to_string(number) + " " +
                                                           std::to_string(++last_told_) + words);
    if (number != view_.number) return false;
    up_to_date_ = answer == "yes";
    return up_to_date_;
  }

  void bring_backup_up_to_date() {
    const fermata::Mutex::Guard guard(busy_);
    if (backup_does("copy", text())) up_to_date_ = true;
  }

  // --- the log ---

  /// An entry that is asked for again is in there once.
  void add(const std::string& entry) {
    if (std::find(log_.begin(), log_.end(), entry) == log_.end()) log_.push_back(entry);
  }

  [[nodiscard]] std::string text() const {
    std::string text;
    for (const std::string& entry : log_) text += " " + entry;
    return text;
  }

  [[nodiscard]] bool is_primary() const { return view_.primary == name_; }

  std::string name_;
  Members members_;
  View view_;
  bool up_to_date_ = false;  // As primary: the backup of the view has everything.
  int last_told_ = 0;        // To the backup, counting.
  int last_heard_ = 0;       // From the primary.
  std::vector<std::string> log_;
  fermata::Mutex busy_{"log"};
};

/// Until it is cancelled.
inline void run_replica(const std::string& name, const Members& members) {
  const auto replica = std::make_shared<Replica>(name, members);
  fermata::spawn("pings", [replica] {
    while (true) {
      replica->ping();
      fermata::delay(std::chrono::milliseconds(100));
    }
  });
  serve(members.at(name), replica);
}

/// Knows who was primary when it last asked.
class Client {
 public:
  explicit Client(Members members) : members_(std::move(members)) {}

  void append(const std::string& entry) { ask_primary("append " + entry); }
  /// The log, each entry behind a space.
  [[nodiscard]] std::string read() { return ask_primary("read"); }

 private:
  /// Asks until a primary has answered "yes"; returns the rest of its answer.
  std::string ask_primary(const std::string& question) {
    while (true) {
      if (view_.primary != "-") {
        const auto answer = ask(members_.at(view_.primary), question);
        if (answer && answer->substr(0, 3) == "yes") return answer->substr(3);
      }
      fermata::delay(std::chrono::milliseconds(50));
      if (const auto told = ask(members_.at("arbiter"), "who")) view_ = View::parse(*told);
    }
  }

  Members members_;
  View view_;
};
