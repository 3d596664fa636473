// SPDX-License-Identifier: Apache-2.0
#pragma once

// The io_uring of a run, and what every part needs of it.
//
// Run     A run has a ring of its own: it belongs to the thread of the run, and nothing of one run
//         is left for the next.
// Turn    What parts put off until the next submission is started first; then the ring submits,
//         waits and tells in one call. Timers fire ahead of the first completion.
// Portion What many have put off is submitted before the turn, so that their peers need not wait
//         until all have run.

#include <memory>

#include "fermata/base/assert.hpp"
#include "fermata/base/intrusive_list.hpp"
#include "fermata/core/reactor.hpp"
#include "fermata/os/turn_timers.hpp"
#include "fermata/os/wake_up.hpp"
#include "fermata/reactor/handle.hpp"
#include "fermata/uring/receive_buffers.hpp"
#include "fermata/uring/ring.hpp"
#include "fermata/uring/send_blocks.hpp"

namespace fermata::uring::detail {

/// Has something to start when the next turn begins. A base of those who do.
class PutOff {
 public:
  PutOff(const PutOff&) = delete;
  PutOff& operator=(const PutOff&) = delete;

 protected:
  PutOff() = default;
  ~PutOff() = default;

 private:
  friend class Loop;

  virtual void start() noexcept = 0;

  bool waits_ = false;
  fermata::detail::Link<PutOff> link_;

 public:
  using List = fermata::detail::IntrusiveList<PutOff, &PutOff::link_>;
};

class Loop {
 public:
  /// Throws InputOutputError when the system refuses.
  Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() = default;

  /// A run begins; throws InputOutputError.
  void open();
  /// It has ended, and every handle is closed.
  void close() noexcept;

  [[nodiscard]] fermata::detail::Attachment& attachment() noexcept { return attachment_; }
  [[nodiscard]] const fermata::detail::Attachment& attachment() const noexcept {
    return attachment_;
  }

  /// The ring of the run. REQUIRES: open.
  [[nodiscard]] Ring& ring() noexcept {
    FERMATA_ASSERT(run_ != nullptr);
    return run_->ring;
  }
  /// Its buffers. REQUIRES: open.
  [[nodiscard]] ReceiveBuffers& receive_buffers() noexcept {
    FERMATA_ASSERT(run_ != nullptr);
    return run_->receive_buffers;
  }
  [[nodiscard]] SendBlocks& send_blocks() noexcept { return send_blocks_; }

  /// Calls start() before the next submission, once; it may do so at once.
  void put_off(PutOff& what) noexcept;
  /// Does not. No effect when it would not.
  void forget(PutOff& what) noexcept;

  /// Starts `operation`: the descriptor is readable, now or later.
  void start_poll(Operation& operation, int descriptor) noexcept;

  /// A turn: begin, wait for what happens, end. Timers have fired when it ends.
  void begin_turn() noexcept { timers_.begin(); }
  void wait(backend::TurnMode mode, Instant wake_by);
  void end_turn() noexcept { fire_timers(); }
  /// The first thing when something is told.
  void fire_timers() noexcept { timers_.fire(attachment_); }

  /// Ends a wait. From any thread, and from signal handlers.
  void wake() noexcept { wake_up_.wake(); }

 private:
  struct Run {
    ReceiveBuffers receive_buffers;  // Outlive the ring, which fills them to its end.
    Ring ring;

    Run() { receive_buffers.register_with(ring); }
  };

  void start_put_off() noexcept;
  void woken(int result, std::uint32_t flags) noexcept;

  fermata::detail::Attachment attachment_;
  os::TurnTimers timers_;
  os::WakeUp wake_up_;
  OperationOf<Loop, &Loop::woken> waking_{*this};
  PutOff::List put_off_;
  SendBlocks send_blocks_;
  std::unique_ptr<Run> run_;
};

}  // namespace fermata::uring::detail
