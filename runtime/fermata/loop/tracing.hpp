// SPDX-License-Identifier: Apache-2.0
#pragma once

// Remembers where callbacks were registered and cancelled, so that an error about an id tells what
// became of it: `Tracing tracing; Loop loop({.tracer = &tracing});`
//
// Bound   Of callbacks that live, everything; of those that have ended, the last `ended_limit`.

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "fermata/loop/tracer.hpp"

namespace fermata::loop {

class Tracing final : public Tracer {
 public:
  static constexpr std::size_t kEndedLimit = 10'000;

  explicit Tracing(std::size_t ended_limit = kEndedLimit) noexcept : ended_limit_(ended_limit) {}

  /// "was a delay registered at a.cpp:3 (f) and cancelled at a.cpp:7 (g)"; empty when the id was
  /// never given, or is forgotten.
  [[nodiscard]] std::string history(CallbackId id) const override;

  /// The callbacks that live, one line each, in the order of registration.
  [[nodiscard]] std::vector<std::string> dump() const;
  /// Callbacks that have ended and are remembered.
  [[nodiscard]] std::size_t ended_count() const noexcept { return ended_.size(); }

 private:
  struct Trace {
    CallbackKind kind = CallbackKind::Defer;
    SourcePlace registered_at;
    SourcePlace cancelled_at;
    bool is_live = true;
    bool is_cancelled = false;

    [[nodiscard]] std::string text() const;
  };

  void registered(const CallbackInfo& info) override;
  void ended(const CallbackInfo& info, const SourcePlace* place) override;

  std::size_t ended_limit_;
  std::map<CallbackId, Trace> traces_;
  std::deque<CallbackId> ended_;  // Oldest first.
};

}  // namespace fermata::loop
