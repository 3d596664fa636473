// SPDX-License-Identifier: Apache-2.0
#pragma once

// A generated program over an event loop: what is done before each run, and what the n-th call of
// anything does, whoever is called. When no calls are left, each one cancels itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fermata::models {

enum class LoopDeed : std::uint8_t {
  Queue,
  Defer,
  Delay,     // of `span` units
  Repeat,    // every `span` units
  Notice,    // registers one
  Readable,  // of a connection; each call takes what has come, or leaves it
  Writable,  // of a connection
  Signal,    // registers a callback of one
  Cancel,
  Disable,
  Enable,
  Reference,
  Unreference,
  Notify,
  Write,  // a byte, to whoever reads the connection
  Fill,   // the connection, until it is not writable
  Empty,  // it again
  Raise,  // a signal
  Suspend,
  Resume,  // whoever made a certain suspension, if it is still there
  Fail,
  ResumeByTicket,  // that suspension and no other
  FailByTicket,
  Stop,
  Throw,  // when the call's other deeds are done
  Sleep,  // `span` units; between runs only
};
inline constexpr std::size_t kLoopDeeds = 26;
inline constexpr std::size_t kLoopConnections = 3;
inline constexpr std::size_t kLoopSignals = 2;

struct LoopAct {
  LoopDeed deed = LoopDeed::Queue;
  /// Which of the ids so far, of the suspensions, connections or signals, modulo their number.
  unsigned subject = 0;
  unsigned span = 0;

  [[nodiscard]] std::size_t connection() const { return subject % kLoopConnections; }
  /// Whether a Readable takes what it reads.
  [[nodiscard]] bool takes() const { return subject / kLoopConnections % 2 == 0; }
  [[nodiscard]] std::size_t signal() const { return subject % kLoopSignals; }
  /// Whether the deed is one to a callback that is there.
  [[nodiscard]] bool is_control() const {
    return deed >= LoopDeed::Cancel && deed <= LoopDeed::Notify;
  }
  [[nodiscard]] bool is_about_connection() const {
    return deed == LoopDeed::Readable || deed == LoopDeed::Writable ||
           (deed >= LoopDeed::Write && deed <= LoopDeed::Empty);
  }
  [[nodiscard]] bool by_ticket() const {
    return deed == LoopDeed::ResumeByTicket || deed == LoopDeed::FailByTicket;
  }
  [[nodiscard]] bool fails() const {
    return deed == LoopDeed::Fail || deed == LoopDeed::FailByTicket;
  }
};

using LoopCall = std::vector<LoopAct>;

/// One run of the loop.
struct LoopRun {
  LoopCall before;
  /// The program suspends itself, which runs the loop until it is resumed.
  bool suspends = false;
  /// A timer is due in every tick, and stops the run when it has been for long enough; otherwise
  /// the loop waits when nothing is left to do.
  bool is_busy = false;
  /// What is thrown goes to a handler, which lets the loop go on.
  bool has_handler = false;
};

struct LoopScript {
  std::vector<LoopRun> runs;
  std::vector<LoopCall> calls;

  [[nodiscard]] std::string text() const {
    std::string out;
    for (const LoopRun& run : runs) {
      out += run.has_handler ? "with a handler, " : "";
      out += (run.suspends ? "before a suspension:" : "before a run:") + text_of(run.before);
    }
    for (std::size_t at = 0; at < calls.size(); ++at) {
      out += "call " + std::to_string(at) + ":" + text_of(calls[at]);
    }
    return out;
  }

 private:
  static std::string text_of(const LoopCall& call) {
    static constexpr std::array<const char*, kLoopDeeds> kNames = {
        "queue",          "defer",
        "delay",          "repeat",
        "notice",         "readable",
        "writable",       "signal",
        "cancel",         "disable",
        "enable",         "reference",
        "unreference",    "notify",
        "write",          "fill",
        "empty",          "raise",
        "suspend",        "resume",
        "fail",           "resume by ticket",
        "fail by ticket", "stop",
        "throw",          "sleep"};
    std::string out;
    for (const LoopAct& act : call) {
      out += std::string(" ") + kNames[static_cast<std::size_t>(act.deed)] + "(" +
             std::to_string(act.subject) + "," + std::to_string(act.span) + ")";
    }
    return out + "\n";
  }
};

}  // namespace fermata::models
