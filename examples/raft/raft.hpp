// SPDX-License-Identifier: Apache-2.0
#pragma once

// Raft (Ongaro and Ousterhout, 2014) on three machines: elections and a replicated log. What a
// node has promised is in a file before anybody is told, so that it survives a crash.

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fermata/runtime.hpp>
#include <functional>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "examples/replication/wire.hpp"

namespace raft {

struct Entry {
  int term = 0;
  std::string command;  // A word.
};

struct Options {
  /// Without it a vote is durable only with the next thing that is: a node that crashes before may
  /// vote again in the same term. That is one planted bug.
  bool save_before_vote = true;

  /// Without it a leader commits an entry of an earlier term as soon as a majority has a copy. A
  /// later leader may have another entry in that place (figure 8 of the paper). That is the other
  /// planted bug.
  bool commit_only_own_term = true;

  std::function<void(int term, const std::string& name)> on_leader = [](int, const auto&) {};
  std::function<void(int index, const Entry&)> on_commit = [](int, const auto&) {};
};

class Raft {
 public:
  /// Reads the file "state" of the present folder, if there is one.
  Raft(std::string name, Members members, Options options)
      : name_(std::move(name)), members_(std::move(members)), options_(std::move(options)) {
    load();
    listen_for_leader();
  }

  /// Answers "vote TERM CANDIDATE LAST_TERM LENGTH" and "append TERM PREVIOUS_TERM PREVIOUS COMMIT
  /// [TERM:COMMAND]...", by other nodes, with "TERM yes" or "TERM no"; and "propose COMMAND", by
  /// clients, with "yes" when it is committed and "no" when it may not be.
  std::string answer(const std::string& question) {
    std::istringstream words(question);
    std::string verb;
    words >> verb;
    if (verb == "propose") return propose(words) ? "yes" : "no";
    const fermata::Mutex::Guard guard(busy_);
    int term = 0;
    words >> term;
    if (term > term_) follow(term);
    const bool agreed = term == term_ && (verb == "vote" ? vote(words) : append(words));
    if (verb != "vote" || options_.save_before_vote) save();
    return std::to_string(term_) + (agreed ? " yes" : " no");
  }

  /// Campaigns when no leader is heard of, and leads. Until it is cancelled.
  void run() {
    for (;;) {
      const fermata::Duration left = deadline_ - fermata::now();
      if (left > fermata::Duration::zero()) {
        fermata::delay(left);
        continue;
      }
      try {
        if (wins_election()) lead();
      } catch (const fermata::InputOutputError&) {  // What is not on the disk is not promised.
        role_ = Role::kFollower;
      }
      listen_for_leader();
    }
  }

 private:
  enum class Role { kFollower, kCandidate, kLeader };
  static constexpr std::chrono::milliseconds kHeartbeat{200};

  void listen_for_leader() {
    deadline_ = fermata::now() + std::chrono::milliseconds(800 + fermata::random(400));
  }

  void follow(int term) {
    if (role_ == Role::kLeader) FERMATA_REACHABLE("a leader is deposed");
    term_ = term;
    vote_ = "-";
    role_ = Role::kFollower;
    is_saved_ = false;
  }

  [[nodiscard]] int length() const { return static_cast<int>(log_.size()); }
  /// They are numbered from 1.
  [[nodiscard]] const Entry& entry(int index) const {
    return log_[static_cast<std::size_t>(index - 1)];
  }
  [[nodiscard]] int term_at(int index) const { return index == 0 ? 0 : entry(index).term; }

  // --- as one who is asked ---

  bool vote(std::istringstream& words) {
    std::string candidate;
    int last_term = 0;
    int their_length = 0;
    words >> candidate >> last_term >> their_length;
    if (vote_ != "-" && vote_ != candidate) return false;
    if (std::pair(last_term, their_length) < std::pair(term_at(length()), length())) return false;
    vote_ = candidate;
    is_saved_ = false;
    listen_for_leader();
    return true;
  }

  bool append(std::istringstream& words) {
    int previous_term = 0;
    int previous = 0;
    int commit = 0;
    words >> previous_term >> previous >> commit;
    role_ = Role::kFollower;
    listen_for_leader();
    if (previous > length() || term_at(previous) != previous_term) return false;
    for (Entry entry; words >> entry.term && words.ignore() && words >> entry.command;) {
      ++previous;
      if (previous <= length() && term_at(previous) == entry.term) continue;
      while (length() >= previous) log_.pop_back();
      log_.push_back(entry);
      is_saved_ = false;
    }
    commit_up_to(std::min(commit, previous));
    return true;
  }

  /// A client that has lost patience asks again: the command may be in the log already.
  bool propose(std::istringstream& words) {
    const int term = term_;
    std::string command;
    words >> command;
    if (role_ != Role::kLeader) return false;
    int index = length();
    while (index > 0 && entry(index).command != command) --index;
    if (index > committed_ ? term_at(index) != term : index == 0) {
      log_.push_back({term, command});
      is_saved_ = false;
      index = length();
      FERMATA_REACHABLE("a leader takes a command");
    }
    while (role_ == Role::kLeader && term_ == term && committed_ < index) {
      fermata::delay(kHeartbeat / 4);
    }
    return term_ == term && committed_ >= index;
  }

  // --- as one who asks ---

  /// Asks each other node, at once, what `question_to` says. Returns the names of those who have
  /// answered yes, none when this node is no longer what it was.
  std::vector<std::string> ask_others(const std::map<std::string, std::string>& questions) {
    const int term = term_;
    const Role role = role_;
    std::map<std::string, fermata::Coroutine<std::string>> asked;
    for (const auto& [name, question] : questions) {
      const auto answer = [whom = members_.at(name), question = question] {
        return ask(whom, question).value_or("0 silent");
      };
      asked.emplace(name, fermata::spawn("ask " + name, answer));
    }
    std::vector<std::string> agreed;
    for (const auto& [name, call] : asked) {
      std::istringstream words(fermata::await(call));
      int their_term = 0;
      std::string word;
      words >> their_term >> word;
      if (their_term > term_) follow(their_term);
      if (word == "yes") agreed.push_back(name);
    }
    if (term != term_ || role != role_) agreed.clear();
    return agreed;
  }

  bool wins_election() {
    std::map<std::string, std::string> questions;
    {
      const fermata::Mutex::Guard guard(busy_);
      follow(term_ + 1);
      role_ = Role::kCandidate;
      vote_ = name_;
      save();
      for (const auto& [name, address] : members_) {
        if (name == name_) continue;
        questions[name] = "vote " + std::to_string(term_) + " " + name_ + " " +
                          std::to_string(term_at(length())) + " " + std::to_string(length());
      }
    }
    if (ask_others(questions).empty()) return false;  // One of two others is a majority.
    role_ = Role::kLeader;
    FERMATA_REACHABLE("a leader is elected");
    options_.on_leader(term_, name_);
    return true;
  }

  void lead() {
    const int term = term_;
    std::map<std::string, int> known;  // How much of the log they have; it is tried downwards.
    for (const auto& member : members_) known[member.first] = length();
    while (role_ == Role::kLeader && term_ == term) {
      std::map<std::string, std::string> questions;
      int durable = 0;
      {
        const fermata::Mutex::Guard guard(busy_);
        durable = length();
        save();
        for (const auto& [name, address] : members_) {
          if (name != name_) questions[name] = news_after(known[name]);
        }
      }
      const std::vector<std::string> agreed = ask_others(questions);
      if (role_ != Role::kLeader || term_ != term) return;
      for (const auto& [name, question] : questions) {
        const bool has = std::find(agreed.begin(), agreed.end(), name) != agreed.end();
        known[name] = has ? durable : std::max(0, known[name] - 1);
      }
      const bool is_own = term_at(durable) == term || !options_.commit_only_own_term;
      if (!agreed.empty() && is_own && committed_ < durable) {
        commit_up_to(durable);
        FERMATA_REACHABLE("a leader commits");
      }
      fermata::delay(kHeartbeat);
    }
  }

  [[nodiscard]] std::string news_after(int known) const {
    std::string text = "append " + std::to_string(term_) + " " + std::to_string(term_at(known)) +
                       " " + std::to_string(known) + " " + std::to_string(committed_);
    for (int i = known + 1; i <= length(); ++i) {
      text += " " + std::to_string(entry(i).term) + ":" + entry(i).command;
    }
    return text;
  }

  void commit_up_to(int index) {
    while (committed_ < index) {
      ++committed_;
      options_.on_commit(committed_, entry(committed_));
    }
  }

  // --- the file ---

  void save() {
    if (is_saved_) return;
    std::ostringstream text;
    text << term_ << " " << vote_ << "\n";
    for (const Entry& entry : log_) text << entry.term << " " << entry.command << "\n";
    is_saved_ = true;  // What changes meanwhile is saved the next time.
    try {
      auto file = fermata::File::open("state.new", fermata::OpenMode::writing());
      file.write(text.str());
      file.sync();
      fermata::fs::rename("state.new", "state");
      fermata::fs::sync_directory(".");
    } catch (...) {
      is_saved_ = false;
      throw;
    }
  }

  void load() {
    try {
      std::istringstream text(fermata::fs::read_file("state"));
      text >> term_ >> vote_;
      for (Entry entry; text >> entry.term >> entry.command;) log_.push_back(entry);
    } catch (const fermata::InputOutputError& error) {
      if (error.code() != ENOENT) throw;  // A new node knows nothing.
    }
  }

  std::string name_;
  Members members_;
  Options options_;
  fermata::Mutex busy_{"raft"};
  fermata::Instant deadline_;  // For hearing of a leader.
  Role role_ = Role::kFollower;
  int committed_ = 0;

  // What is in the file.
  int term_ = 0;
  std::string vote_ = "-";  // In this term; "-" is nobody.
  std::vector<Entry> log_;
  bool is_saved_ = true;
};

/// Until it is cancelled.
inline void run_node(const std::string& name, const Members& members, const Options& options) {
  std::shared_ptr<Raft> node;
  for (;;) {
    try {
      if (!node) {
        node = std::make_shared<Raft>(name, members, options);
        fermata::spawn("clock", [node] { node->run(); });
      }
      serve(members.at(name), node);
      return;
    } catch (const fermata::InputOutputError&) {  // Out of descriptors, say.
      fermata::delay(std::chrono::milliseconds(100));
    }
  }
}

/// Returns when `command` is committed; it may be in the log several times.
inline void propose(const Members& members, const std::string& command) {
  for (;;) {
    for (const auto& [name, address] : members) {
      if (ask(address, "propose " + command) == "yes") return;
    }
    fermata::delay(std::chrono::milliseconds(100 + fermata::random(900)));
  }
}

}  // namespace raft
