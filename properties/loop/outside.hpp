// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the loop of a script watches: signals, and streams of its own.

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>

#include "fermata/reactor/descriptor_calls.hpp"
#include "fermata/reactor/signal.hpp"
#include "properties/models/loop_script.hpp"

namespace fermata::properties {

inline constexpr std::array<int, models::kLoopSignals> kScriptSignals = {SIGUSR1, SIGUSR2};

/// Keeps the script's signals from killing the program while it lives.
class ScriptSignals {
 public:
  explicit ScriptSignals(backend::Signals& signals) {
    for (const int signum : kScriptSignals) {
      backend::SignalEvent& event = events_.emplace_back(signals, signum);
      event.set_hidden(true);
      event.start();
    }
  }
  ScriptSignals(const ScriptSignals&) = delete;
  ScriptSignals& operator=(const ScriptSignals&) = delete;
  ~ScriptSignals() {
    for (backend::SignalEvent& event : events_) event.stop();
  }

 private:
  std::deque<backend::SignalEvent> events_;
};

/// The two ends of a stream; the near one is watched.
class ScriptConnection {
 public:
  explicit ScriptConnection(backend::DescriptorCalls& calls)
      : calls_(calls), ends_(calls.open_pair()) {}
  ScriptConnection(const ScriptConnection&) = delete;
  ScriptConnection& operator=(const ScriptConnection&) = delete;
  ~ScriptConnection() {
    calls_.close(ends_.first);
    calls_.close(ends_.second);
  }

  [[nodiscard]] int near() const noexcept { return ends_.first; }
  void write() { must(calls_.write(ends_.second, std::span(chunk_).first(1))); }
  void take() { read_all(ends_.first); }
  void fill() {
    while (must(calls_.write(ends_.first, chunk_)) > 0) continue;
  }
  void empty() { read_all(ends_.second); }

 private:
  void read_all(int end) {
    while (must(calls_.read(end, chunk_)) > 0) continue;
  }
  static std::size_t must(const DescriptorTransfer& transfer) {
    if (transfer.code != 0 && transfer.code != EAGAIN) {
      throw std::logic_error("a descriptor failed: " + std::to_string(transfer.code));
    }
    return transfer.code == 0 ? transfer.size : 0;
  }

  backend::DescriptorCalls& calls_;
  const DescriptorPair ends_;
  std::array<std::byte, 16'384> chunk_{};
};

}  // namespace fermata::properties
