// SPDX-License-Identifier: Apache-2.0
#pragma once

// What happened in one run, step by step, for people: who ran, why it gave way and where, whom it
// woke, where the run was not calm, what the machines sent each other and what happened to them.
// Written only in runs that are recorded, and of no effect on what they do.
//
// Memory   The last kMostSteps steps, kMostDisturbances and kMostLines are kept.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/source_place.hpp"
#include "fermata/base/time.hpp"
#include "fermata/core/observer.hpp"
#include "fermata/sim/record/disk_log.hpp"
#include "fermata/sim/record/message_log.hpp"
#include "fermata/sim/tape/decision.hpp"

namespace fermata {
class CoroutineBase;
}

namespace fermata::sim {

class RunLog final : public DecisionListener {
 public:
  /// One coroutine of one machine.
  struct Lane {
    std::string machine;
    std::string name;  // "worker"; the next one of that name on the machine is "worker #2".
    std::uint64_t path = 0;
    SourcePlace spawned;
    /// The lane of whoever spawned it; empty for a program's first one.
    std::optional<std::size_t> parent;
  };

  /// Runs: the run ended in it. Unwound: by force, at the end of the run or of its machine.
  enum class Ending : std::uint8_t { Runs, Yields, Waits, Ends, Fails, Cancelled, Unwound };

  struct Wake {
    std::size_t lane = 0;
    backend::WakeCause cause = backend::WakeCause::Event;
  };

  /// The code between two switches.
  struct Step {
    std::uint64_t number = 0;  // As Failure::step counts.
    std::size_t lane = 0;
    Instant at;     // The world's time.
    Instant clock;  // What the machine's clock shows, which may be wrong.
    Ending ending = Ending::Runs;
    std::string reason;  // What it waits for, or the error.
    SourcePlace place;   // Where it gave way; not when it ended.
    /// The step that made its coroutine ready, counted from the run's first one; empty when
    /// something outside of all steps did.
    std::optional<std::size_t> woken_by;
    /// The messages whose arrival made its coroutine ready, in their order.
    std::vector<MessageLog::Id> received;
    /// What it asked of the machine, a clause each: "writes \"v2\" to 'settings'".
    std::vector<std::string> calls;
    /// In its order; Spawn for those that it spawned, Cancel and Shutdown for those that it
    /// cancelled, ready or not. Until the reactor is looked at: of a step in which a coroutine ends
    /// also those who waited for that.
    std::vector<Wake> woken;
  };

  /// Somebody who could have run.
  struct Suspended {
    std::size_t lane = 0;
    bool begun = false;
    SourcePlace place;               // Where it is suspended; where it was spawned if not begun.
    std::vector<const void*> stack;  // The return addresses, innermost first.
  };

  /// Where the run was not calm.
  struct Turn {
    Decision decision;
    /// How many steps had begun by then.
    std::size_t step = 0;
    /// For a pick: who ran, and who would have run in production.
    std::optional<Suspended> chosen;
    std::optional<Suspended> passed_over;
  };

  /// Something that happened to a machine, a link or the world.
  struct Disturbance {
    /// "crash", "restart", "pause", "resume", "partition", "hold", "clog", "heal", "clock", "disk",
    /// "signal", or the name of a Fault.
    std::string kind;
    std::string text;     // "machine 'server' crashes"
    std::string machine;  // Empty: of none in particular.
    std::string other;    // Where the link leads to that it happened to; else empty.
    Instant at;
    std::optional<Instant> until;
    /// How many steps had begun by then.
    std::size_t step = 0;
  };

  /// A line of what the program prints or logs.
  struct Line {
    std::string text;                 // Its first kMostOfLine bytes, without the newline.
    std::string machine;              // Empty: printed outside of every machine.
    std::optional<std::size_t> lane;  // Empty: no coroutine's.
    Instant at;
    /// The step in which it was printed, counted from the run's first one; without a lane how many
    /// steps had begun by then.
    std::size_t step = 0;
    /// How many that step had woken before.
    std::size_t woken = 0;
  };

  static constexpr std::size_t kMostSteps = 200'000;
  static constexpr std::size_t kMostDisturbances = 100'000;
  static constexpr std::size_t kMostLines = 100'000;
  static constexpr std::size_t kMostOfLine = 4'096;

  // --- told by the run ---

  /// `at` is the world's time, `clock` what the machine's clock shows then.
  void note(std::string_view machine, backend::Trace kind, const CoroutineBase& coroutine,
            std::uint64_t detail, Instant at, Instant clock, std::uint64_t step);
  /// What is woken on this machine from now on is not the last step's doing.
  void step_over(std::string_view machine);
  void decided(const Decision& decision) override;
  void record_incident(Disturbance disturbance);
  /// Names something that a step asked of its machine.
  struct CallId {
    std::size_t step = 0;  // From the run's first one.
    std::size_t index = 0;
  };
  /// The step that runs on this machine asks it for something: "syncs 'settings'". Empty outside of
  /// all steps.
  std::optional<CallId> called(std::string_view machine, std::string text);
  /// The answer to a call, for its line: " (no such file or directory)".
  void answered(const CallId& call, std::string_view text);
  /// From here on, who is woken by nobody's step has received this message; 0: none.
  void arriving(MessageLog::Id message) noexcept { arriving_ = message; }
  [[nodiscard]] MessageLog::Id arriving() const noexcept { return arriving_; }
  /// Notes in which step it is sent.
  MessageLog::Id sent(std::string_view machine, Message message, const void* bytes = nullptr,
                      std::size_t size = 0);
  [[nodiscard]] MessageLog& message_log() noexcept { return message_log_; }
  /// All files of a machine's disk, which has changed; `after_crash`: by a crash, which is not
  /// part of the last step.
  void saw_files(std::string_view machine, const std::vector<FileState>& files, Instant at,
                 bool after_crash) {
    disk_log_.saw(machine, files, at, forgotten_ + steps_.size() + (after_crash ? 1 : 0));
  }
  /// `text` was printed, on `machine` or outside of all; it has no newline. `continues`: on the
  /// line of what was printed before.
  void printed(std::string_view machine, std::string_view text, bool continues, Instant at);
  void ended(Instant end, std::uint64_t trace_hash);

  // --- the run ---

  [[nodiscard]] const std::vector<Lane>& lanes() const noexcept { return lanes_; }
  /// The last steps of the run, in its order.
  [[nodiscard]] const std::deque<Step>& steps() const noexcept { return steps_; }
  /// How many steps came before those.
  [[nodiscard]] std::size_t forgotten() const noexcept { return forgotten_; }
  [[nodiscard]] const std::vector<Turn>& turns() const noexcept { return turns_; }
  [[nodiscard]] const std::deque<Disturbance>& disturbances() const noexcept {
    return disturbances_;
  }
  [[nodiscard]] const MessageLog& message_log() const noexcept { return message_log_; }
  /// In their order.
  [[nodiscard]] const std::deque<Line>& lines() const noexcept { return lines_; }
  [[nodiscard]] const DiskLog& disk_log() const noexcept { return disk_log_; }
  [[nodiscard]] Instant end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t trace_hash() const noexcept { return trace_hash_; }

 private:
  /// The last step of a machine; `over` once it has given way.
  struct Present {
    std::size_t ordinal = 0;
    bool over = false;
  };

  std::size_t lane_of(std::string_view machine, const CoroutineBase& coroutine);
  /// The step whose doing it is what happens there now; null when it is nobody's.
  [[nodiscard]] Step* present_step(std::string_view machine);
  /// Whether that step has not given way.
  [[nodiscard]] bool is_open(std::string_view machine) const;
  /// The present step, until its coroutine has given way; null otherwise.
  [[nodiscard]] Step* open_step(std::string_view machine, std::size_t lane);
  void wake(std::string_view machine, std::size_t lane, backend::WakeCause cause);
  /// Notes why `lane` is ready, for the step that it begins with next.
  void note_cause(std::string_view machine, std::size_t lane);
  void begin(std::size_t lane, Instant at, Instant clock, std::uint64_t step);
  void suspend(std::size_t lane, const CoroutineBase& coroutine);
  void finish(std::size_t lane, const CoroutineBase& coroutine);
  [[nodiscard]] std::optional<Suspended> suspended(std::uint64_t path) const;

  std::vector<Lane> lanes_;
  /// Why a coroutine is ready: as in the Step that it begins.
  struct Cause {
    std::optional<std::size_t> woken_by;
    std::vector<MessageLog::Id> received;
  };

  std::vector<Suspended> present_;  // Of each lane.
  std::vector<Cause> causes_;       // Of each lane.
  std::map<std::uint64_t, std::size_t> lane_by_path_;
  /// How often there is a name on a machine, since its program began.
  std::map<std::string, std::map<std::string, std::size_t>, std::less<>> namesakes_;
  std::deque<Step> steps_;
  std::size_t forgotten_ = 0;
  std::map<std::string, Present, std::less<>> present_steps_;  // By machine.
  std::vector<Turn> turns_;
  std::deque<Disturbance> disturbances_;
  std::deque<Line> lines_;
  MessageLog message_log_;
  MessageLog::Id arriving_ = 0;  // 0: none.
  DiskLog disk_log_;
  Instant end_;
  std::uint64_t trace_hash_ = 0;
};

/// A message arrives while this lives: who is woken in that time has received it.
class Arrival {
 public:
  /// `told` may be null, and `message` 0: then nothing is recorded.
  Arrival(RunLog* told, MessageLog::Id message) noexcept : told_(told) {
    if (told_ != nullptr) told_->arriving(message);
  }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;
  ~Arrival() {
    if (told_ != nullptr) told_->arriving(0);
  }

 private:
  RunLog* told_;
};

}  // namespace fermata::sim
