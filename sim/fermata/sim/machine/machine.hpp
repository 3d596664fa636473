// SPDX-License-Identifier: Apache-2.0
#pragma once

// A machine as the parts of its reactor see it: what time it is, what is going to happen, who
// answers draws, and who is told. The world implements it.
//
// Threads  A thread of a program is a Machine of its own, with its own time and agenda. Its host is
//          the machine that it runs on.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/time.hpp"
#include "fermata/sim/base/key.hpp"
#include "fermata/sim/machine/agenda.hpp"
#include "fermata/sim/machine/node_clock.hpp"
#include "fermata/sim/machine/occasion.hpp"
#include "fermata/sim/record/run_state.hpp"

namespace fermata::sim {
class RunLog;
}

namespace fermata::sim::detail {

class FaultPlan;

class Machine : private AgendaOwner {
 public:
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Names this machine in the keys of draws.
  [[nodiscard]] std::uint64_t key() const noexcept { return key_; }
  /// Counts the machines of the run, from 0.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] std::uint32_t ip() const noexcept { return ip_; }
  /// The machine that a thread runs on; any other machine is its own host.
  [[nodiscard]] Machine& host() const noexcept { return *host_; }

  /// " on 'desk'" where there are other machines, too; for people.
  [[nodiscard]] std::string place() const {
    const bool is_alone = host_->number_ == 0 && host_->peer(host_->ip_ + 1) == nullptr;
    return is_alone ? std::string() : " on '" + host_->name_ + "'";
  }

  /// The world's time, as far as this machine has come.
  [[nodiscard]] Instant now() const noexcept { return now_; }
  /// The latest time of any machine; while this one waits, its own time may be behind.
  [[nodiscard]] virtual Instant world_now() const noexcept = 0;
  /// The earliest time at which what happens outside, now, can be seen here.
  [[nodiscard]] virtual Instant earliest_visible_time() const noexcept = 0;
  /// Its clock, which gives the time to its program.
  [[nodiscard]] NodeClock& clock() noexcept { return host_->clock_; }
  /// Sets its wall clock forwards, or backwards.
  void step_wall_clock(Duration by);
  [[nodiscard]] Agenda& agenda() noexcept { return agenda_; }

  [[nodiscard]] FaultPlan& faults() const noexcept { return faults_; }
  [[nodiscard]] Decisions& decisions() const noexcept { return decisions_; }

  /// The machine with this address, which may be this one; null when there is none.
  [[nodiscard]] virtual Machine* peer(std::uint32_t ip) noexcept = 0;
  /// The machine of this name; null when there is none.
  [[nodiscard]] virtual Machine* peer(std::string_view name) const noexcept = 0;
  /// It has crashed and is not up again.
  [[nodiscard]] bool is_down() const noexcept { return host_->down_; }
  /// Fault::ThreadCreationFailure may strike.
  [[nodiscard]] bool can_refuse_threads() const noexcept { return host_->may_refuse_threads_; }
  /// The run is over: nothing that still happens here has any effect outside.
  [[nodiscard]] bool over() const noexcept { return run_.over(); }

  /// Tells whoever listens to this machine what it has come to.
  void came(Occasion occasion, std::string_view subject) const {
    FERMATA_ASSERT(host_->host_ == host_);
    if (host_->occasions_ != nullptr && !over()) host_->occasions_->came(occasion, subject);
  }
  /// Its programs are to give way before they go on: something strikes now.
  [[nodiscard]] bool is_struck() const noexcept { return host_->struck_; }

  /// Real files and directories that foreign code sees, by absolute paths.
  [[nodiscard]] const std::vector<std::string>& real_files() const noexcept {
    FERMATA_ASSERT(host_->host_ == host_);
    return host_->real_files_;
  }

  /// Its program gets a signal, in a later turn.
  virtual void signal(int signum) = 0;
  /// The step that runs uses what has a name with this key.
  virtual void announced(std::uint64_t key, bool written) = 0;
  /// The run fails, as of a rule that the program has broken: `message` says which.
  virtual void fail(std::string message) = 0;
  /// From here on nobody knows what a step uses.
  void uses_unknown() noexcept { run_.sharing_unknown = true; }

  /// The log of what it sends; null when there is none, and while it is unwound.
  [[nodiscard]] RunLog* run_log() const noexcept {
    return run_log_ == nullptr || over() ? nullptr : run_log_;
  }
  /// Records what happens to this machine, or to the link from it to `other`; for people.
  virtual void record_incident(std::string_view kind, std::string_view what,
                               const Machine* other = nullptr,
                               std::optional<Instant> until = {}) = 0;

 protected:
  /// With `host`: a thread of a program there. What else it is given must outlive it.
  Machine(std::string_view name, RunState& run, FaultPlan& faults, Decisions& decisions,
          Machine* host)
      : name_(name),
        key_(key_of(name)),
        run_(run),
        faults_(faults),
        decisions_(decisions),
        host_(host != nullptr ? host : this) {
    FERMATA_ASSERT(host_->host_ == host_);  // A thread is not a host.
  }
  ~Machine() = default;

  std::string name_;
  std::uint64_t key_;
  RunState& run_;
  FaultPlan& faults_;
  Decisions& decisions_;
  Machine* host_;
  Agenda agenda_{this};
  Instant now_;
  NodeClock clock_;  // Of a host.
  RunLog* run_log_ = nullptr;
  std::vector<std::string> real_files_;  // Of a host.
  std::uint32_t number_ = 0;
  std::uint32_t ip_ = 0;
  bool down_ = false;
  bool may_refuse_threads_ = false;
  OccasionListener* occasions_ = nullptr;  // Null without a nemesis.
  bool struck_ = false;                    // Likewise.
};

}  // namespace fermata::sim::detail
