// SPDX-License-Identifier: Apache-2.0
#pragma once

// A generated program over an event loop: what is done before each run, and what the n-th call of
// anything does, whoever is called. When no calls are left, each one cancels itself.

#include <cstdint>
#include <string>
#include <vector>

namespace fermata::models {

enum class LoopDeed : std::uint8_t {
  Queue,
  Defer,
  Delay,   // of `span` units
  Repeat,  // every `span` units
  Notice,  // registers one
  Cancel,
  Disable,
  Enable,
  Reference,
  Unreference,
  Notify,
  Stop,
  Throw,  // when the call's other deeds are done
  Sleep,  // `span` units; between runs only
};
inline constexpr unsigned kLoopDeeds = 14;

struct LoopAct {
  LoopDeed deed = LoopDeed::Queue;
  unsigned subject = 0;  // Which of the ids so far, modulo their number.
  unsigned span = 0;
};

using LoopCall = std::vector<LoopAct>;

struct LoopScript {
  std::vector<LoopCall> before_runs;
  std::vector<LoopCall> calls;

  [[nodiscard]] std::string text() const {
    static constexpr const char* kNames[kLoopDeeds] = {
        "queue",  "defer",     "delay",       "repeat", "notice", "cancel", "disable",
        "enable", "reference", "unreference", "notify", "stop",   "throw",  "sleep"};
    std::string out;
    const auto add = [&](const char* what, const std::vector<LoopCall>& all) {
      for (std::size_t at = 0; at < all.size(); ++at) {
        out += std::string(what) + " " + std::to_string(at) + ":";
        for (const LoopAct& act : all[at]) {
          out += std::string(" ") + kNames[static_cast<unsigned>(act.deed)] + "(" +
                 std::to_string(act.subject) + "," + std::to_string(act.span) + ")";
        }
        out += "\n";
      }
    };
    add("before run", before_runs);
    add("call", calls);
    return out;
  }
};

}  // namespace fermata::models
