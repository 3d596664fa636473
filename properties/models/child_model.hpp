// SPDX-License-Identifier: Apache-2.0
#pragma once

// What may be seen of a child whose script is known: what it writes, how it ends, and when it must
// have ended. It may end otherwise than its script says only when somebody has given it a reason.

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "properties/models/byte_way_model.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::models {

/// What a script comes to when nobody interferes and everything is read.
struct ScriptModel {
  std::string output, errors;
  std::string late;  // Behind the output, from a child of its own, when so much time has passed.
  Duration lateness = Duration::zero();
  Duration takes = Duration::zero();
  int end = 0;               // The exit code, or minus the signal that it dies of.
  bool reads_input = false;  // To its end.
  bool copies_input = false;
  bool ignores_sigterm = false;
};

class ChildModel {
 public:
  enum ChildStream : std::uint8_t { kInput, kOutput, kErrors };

  /// Longer than that no script takes, unless it is to be ended.
  static constexpr Duration kForEver = std::chrono::seconds(600);
  /// Bytes that a pipe holds.
  static constexpr std::size_t kPipe = 64 * 1024;

  /// `pipes`: which of its streams are pipes.
  ChildModel(ScriptModel model, std::array<bool, 3> pipes, std::uint8_t number, Instant now)
      : script(std::move(model)),
        input(number),
        started_(now),
        open_(pipes),
        all_{std::string(), script.output + script.late, script.errors} {
    if (!open_[kInput]) input.closed();
  }

  const ScriptModel script;
  ByteWayModel input;

  // --- what is done to it ---

  void signalled(int signum, Instant now) {
    if (signum == 0) return;
    signals_.push_back(signum);
    const bool ends = signum != SIGTERM || !script.ignores_sigterm;
    if (!ends) return;
    doomed_ = true;
    // It has not come to its own end yet.
    if (now < started_ + script.takes && script.takes > Duration::zero()) ended_early_ = true;
  }
  void closed(ChildStream stream) {
    if (!std::exchange(open_[stream], false)) return;
    if (stream == kInput) return input.closed();
    if (!ends_[stream]) cut_ = true;
  }
  /// Its owner is gone, and with him its pipes; `terminate`: when the last one who waits has left,
  /// it is told to end.
  void dropped(bool terminate) {
    for (const ChildStream each : {kInput, kOutput, kErrors}) closed(each);
    if (terminate) signals_.push_back(SIGTERM);
  }

  [[nodiscard]] bool is_open(ChildStream stream) const { return open_[stream]; }
  [[nodiscard]] bool at_end(ChildStream stream) const { return ends_[stream]; }
  [[nodiscard]] bool lasts_for_ever() const { return script.takes >= kForEver; }

  // --- what is seen of it ---

  [[nodiscard]] Complaint received(ChildStream stream, std::span<const std::byte> bytes) {
    if (ends_[stream]) return "EXE-01 (VAL): bytes came behind the end of a child's output";
    if (script.copies_input && stream == kOutput) return input.received(bytes);
    const std::string& all = all_[stream];
    std::size_t& place = received_[stream];
    const auto matches = [&](std::byte byte, char written) {
      return std::to_integer<unsigned char>(byte) == static_cast<unsigned char>(written);
    };
    if (bytes.size() > all.size() - place ||
        !std::equal(bytes.begin(), bytes.end(), all.begin() + static_cast<std::ptrdiff_t>(place),
                    matches)) {
      return "EXE-01 (VAL): a child's output is not what it wrote, from byte " +
             std::to_string(place) + " on";
    }
    place += bytes.size();
    return {};
  }

  [[nodiscard]] Complaint end_reached(ChildStream stream) {
    ends_[stream] = true;
    if (may_be_cut_short()) return check_whole(stream);
    if (script.copies_input && stream == kOutput) return input.end_reached();
    return is_whole(stream) ? "" : "EXE-01 (VAL): a child's output ended before all had come";
  }

  /// `end` as in ScriptModel.
  [[nodiscard]] Complaint ended(int end, Instant now) {
    if (end_) {
      if (*end_ == end) return {};
      return "PROC-03 (VAL): one waiter was told the end " + std::to_string(*end_) +
             ", another one " + std::to_string(end);
    }
    end_ = end;
    const bool broken_pipe = cut_ && end == -SIGPIPE;
    const bool killed =
        end < 0 && std::find(signals_.begin(), signals_.end(), -end) != signals_.end();
    if (broken_pipe || killed) return {};
    if (end != script.end) {
      return "EXE-02 (VAL): a child's end is " + std::to_string(end) + ", expected " +
             std::to_string(script.end);
    }
    if (ended_early_) return "EXE-02 (VAL): a child was killed, and ended by itself much later";
    if (now < started_ + script.takes) return "EXE-02 (TIME): a child ended before it could";
    if (script.reads_input && !input.is_ended()) {
      return "EXE-02 (VAL): a child ended that was to read its input to the end";
    }
    const Complaint output = check_whole(kOutput);
    return output.empty() ? check_whole(kErrors) : output;
  }

  [[nodiscard]] const std::optional<int>& end() const { return end_; }
  /// By its script, or since somebody has given it a reason.
  [[nodiscard]] bool may_have_ended(Instant now) const {
    if (may_be_cut_short()) return true;
    return now >= started_ + script.takes && (!script.reads_input || input.is_ended());
  }
  /// Nothing keeps it from its end, and time enough has passed.
  [[nodiscard]] bool must_have_ended() const {
    if (end_ || doomed_) return true;
    if (lasts_for_ever()) return false;
    if (script.reads_input && !input.is_ended()) return false;
    if (script.copies_input) return !open_[kOutput] || input.outstanding() <= kPipe;
    return !is_blocked(kOutput) && !is_blocked(kErrors);
  }
  /// Bytes that it has written, or will.
  [[nodiscard]] bool has_more(ChildStream stream) const {
    if (script.copies_input && stream == kOutput) return input.outstanding() > 0;
    return !is_whole(stream);
  }

 private:
  [[nodiscard]] bool is_whole(ChildStream stream) const {
    return received_[stream] == all_[stream].size();
  }
  [[nodiscard]] bool is_blocked(ChildStream stream) const {
    return open_[stream] && all_[stream].size() - received_[stream] > kPipe;
  }
  [[nodiscard]] bool may_be_cut_short() const { return cut_ || !signals_.empty(); }

  /// Who ended by himself has written everything.
  [[nodiscard]] Complaint check_whole(ChildStream stream) const {
    const bool by_itself = end_ && *end_ == script.end && script.end >= 0;
    if (!by_itself || !ends_[stream] || (script.copies_input && stream == kOutput)) return {};
    if (is_whole(stream)) return {};
    return "EXE-01 (VAL): a child ended by itself, and not all of its output came";
  }

  Instant started_;
  std::array<bool, 3> open_;
  std::array<std::string, 3> all_;  // That it writes, but for what it copies.
  std::array<bool, 3> ends_{};
  std::array<std::size_t, 3> received_{};
  std::vector<int> signals_;
  bool doomed_ = false;       // By a signal that it does nothing about.
  bool ended_early_ = false;  // Before its own end.
  bool cut_ = false;          // Somebody will not read what it writes.
  std::optional<int> end_;
};

}  // namespace fermata::models
