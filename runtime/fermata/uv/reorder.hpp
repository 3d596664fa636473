// SPDX-License-Identifier: Apache-2.0
#pragma once

// Other orders in which the system might have told what has happened, drawn from a seed.
//
// Completions  Of files, names, offloaded work, connects, writes and closes: in any order, some of
//              them a few turns later.
// Readiness    Of a socket or a listener: sometimes looked at a turn after that of others.
// Timers       A turn that waits for them ends late; those that are due fire before or after the
//              I/O of their turn.
// Never        A timer early or before one with an earlier deadline, bytes of a connection or
//              datagrams of a socket out of order, an effect before its cause.

#include <cstdint>
#include <functional>
#include <vector>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/base/time.hpp"

namespace fermata::uv::detail {

/// Something that becomes ready, and stays so until it is looked at.
class ReadySource {
 public:
  ReadySource(const ReadySource&) = delete;
  ReadySource& operator=(const ReadySource&) = delete;

 protected:
  ReadySource() = default;
  ~ReadySource() = default;

  /// Is not to be looked at until resume().
  virtual void hold() noexcept = 0;
  virtual void resume() noexcept = 0;

 private:
  friend class Reorder;
  fermata::detail::Link<ReadySource> link_;
  bool watched_ = false;
  bool held_ = false;

 public:
  using List = fermata::detail::IntrusiveList<ReadySource, &ReadySource::link_>;
};

class Reorder {
 public:
  explicit Reorder(std::uint64_t seed) noexcept : state_(seed) {}

  // --- readiness ---

  /// Idempotent, as unwatch() is.
  void watch(ReadySource& source) noexcept;
  void unwatch(ReadySource& source) noexcept;
  /// Holds some sources until release_all(); returns whether there are any. Never twice in a row.
  bool hold_some() noexcept;
  void release_all() noexcept;
  /// Whether one of several that are ready waits for the next look.
  [[nodiscard]] bool passes_over() noexcept { return draw(4) == 0; }
  /// In [0, bound). REQUIRES: bound > 0.
  [[nodiscard]] std::uint64_t draw(std::uint64_t bound) noexcept;

  // --- completions ---

  void defer(std::function<void()> completion);
  [[nodiscard]] bool pending() const noexcept { return !deferred_.empty(); }
  /// Runs what was deferred, but for some that wait for the next call.
  void run_some();

  // --- timers ---

  [[nodiscard]] bool timers_last() noexcept { return draw(3) == 0; }
  [[nodiscard]] Duration lateness() noexcept;

 private:
  struct Deferred {
    std::function<void()> completion;
    int turns = 0;
  };

  std::uint64_t state_;
  ReadySource::List sources_;
  bool held_some_ = false;
  std::vector<Deferred> deferred_;
};

}  // namespace fermata::uv::detail
