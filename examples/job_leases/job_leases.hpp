// SPDX-License-Identifier: Apache-2.0
#pragma once

// Jobs that workers on other machines lease, do, and report. A worker that is silent for too long
// loses its lease, and the job goes to another one. The first may have charged the customer
// already, or may do so later: what makes two charges one is their key.

#include <chrono>
#include <fermata/runtime.hpp>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "examples/replication/wire.hpp"

namespace job_leases {

/// The key that a worker sends with a charge. Two leases of one job are two keys of `kLease`: then
/// both are charged. That is the planted bug.
enum class Key { kJob, kLease };

/// Charges customers, once for each key.
class Bank {
 public:
  void charge(const std::string& key, int job) {
    if (!keys_.insert(key).second) return;
    const int charges = ++charges_[job];
    FERMATA_ALWAYS_EQ(charges, 1, "a job is charged once", "job", job, "key", key);
  }

  [[nodiscard]] int charged_jobs() const { return static_cast<int>(charges_.size()); }

 private:
  std::set<std::string> keys_;
  std::map<int, int> charges_;
};

/// Jobs 1 to n, and who has which.
class Queue {
 public:
  explicit Queue(int jobs) {
    for (int job = 1; job <= jobs; ++job) jobs_[job];
  }

  /// "JOB LEASE"; "wait" when all that are left are leased, "finished" when none is left.
  std::string take(const std::string& worker) {
    if (jobs_.empty()) return "finished";
    for (auto& [job, lease] : jobs_) {
      if (lease.number != 0 && fermata::now() < lease.expires) continue;
      if (lease.number != 0) FERMATA_REACHABLE("a lease expires");
      lease = {++last_lease_, worker, fermata::now() + kLeaseTime};
      return std::to_string(job) + " " + std::to_string(lease.number);
    }
    return "wait";
  }

  /// A job is done, no matter who did it and under which lease.
  void finish(int job) { jobs_.erase(job); }

 private:
  static constexpr std::chrono::seconds kLeaseTime{1};

  struct Lease {
    int number = 0;  // None yet.
    std::string worker;
    fermata::Instant expires;
  };

  std::map<int, Lease> jobs_;
  int last_lease_ = 0;
};

/// The machine that workers ask.
class Desk {
 public:
  explicit Desk(int jobs) : queue_(jobs) {}

  /// Answers "take WORKER", "charge KEY JOB" and "finish JOB".
  std::string answer(const std::string& question) {
    std::istringstream words(question);
    std::string verb;
    std::string who;
    int job = 0;
    words >> verb;
    if (verb == "take" && words >> who) return queue_.take(who);
    if (verb == "charge" && words >> who >> job) return bank_.charge(who, job), "ok";
    if (verb == "finish" && words >> job) return queue_.finish(job), "ok";
    return "what?";
  }

  [[nodiscard]] const Bank& bank() const { return bank_; }

 private:
  Queue queue_;
  Bank bank_;
};

/// Asks until there is an answer. What was asked may have been done more than once.
inline std::string insist(const fermata::Address& desk, const std::string& question) {
  for (;;) {
    if (const auto answer = ask(desk, question)) return *answer;
    fermata::delay(std::chrono::milliseconds(50));
  }
}

/// Takes jobs and does them until none is left.
inline void work(const std::string& name, const fermata::Address& desk, Key key) {
  for (;;) {
    const std::string offer = insist(desk, "take " + name);
    if (offer == "finished") return;
    if (offer == "wait") {
      fermata::delay(std::chrono::milliseconds(100));
      continue;
    }
    std::string job;
    std::string lease;
    std::istringstream(offer) >> job >> lease;
    fermata::delay(std::chrono::milliseconds(fermata::random(300)));  // This is the job.
    const std::string unique = key == Key::kJob ? "job-" + job : "lease-" + lease;
    insist(desk, "charge " + unique + " " + job);
    insist(desk, "finish " + job);
  }
}

}  // namespace job_leases
