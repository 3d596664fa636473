// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who watches which descriptor of a backend, and the turn.
//
// Sharing  Several may watch one number: a descriptor that was closed behind our back, and what has
//          its number now. The backend watches for the union.
// Order    A turn fires the runtime's timers ahead of the first readiness it tells.
// Portions A turn tells a part of what a wait has found. The next turns tell the rest before
//          anything waits again. Coroutines run between turns (RX-01), so a connection is written
//          to while the kernel's data of it is still in the caches from the read.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fermata/core/reactor.hpp"
#include "fermata/os/turn_timers.hpp"
#include "fermata/poll/backend.hpp"
#include "fermata/reactor/dispatch_list.hpp"
#include "fermata/reactor/handle.hpp"

namespace fermata::poll::detail {

class Watches;

/// Who owns a descriptor.
enum class Owner : std::uint8_t {
  Reactor,  // which unwatches it before it closes it
  User,     // who may do anything with it
};

/// Watches one descriptor. A base of those who do.
class Watcher {
 public:
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 protected:
  explicit Watcher(Owner owner = Owner::Reactor) noexcept : owner_(owner) {}
  ~Watcher() = default;

 private:
  friend class Watches;

  /// Some of what is watched for, or Disconnect. It may be wrong.
  virtual void on_ready(PollMask mask) noexcept = 0;

  const Owner owner_;
  PollMask watched_ = PollMask::None;
  fermata::detail::DispatchLink<Watcher> link_;

 public:
  using List = fermata::detail::DispatchList<Watcher, &Watcher::link_>;
};

class Watches final : private Sink {
 public:
  /// Throws InputOutputError.
  explicit Watches(std::unique_ptr<Backend> backend);
  ~Watches();

  [[nodiscard]] Backend& backend() noexcept { return *backend_; }
  [[nodiscard]] const Backend& backend() const noexcept { return *backend_; }
  [[nodiscard]] fermata::detail::Attachment& attachment() noexcept { return attachment_; }
  [[nodiscard]] const fermata::detail::Attachment& attachment() const noexcept {
    return attachment_;
  }

  /// Whether what a user's watcher is told distinguishes a hang-up from readiness.
  [[nodiscard]] bool tells_hang_ups() const noexcept;

  /// Throws PollError when the backend can never watch this number.
  void require_within_limit(int descriptor) const;

  /// Watches `descriptor` for `mask`, which is not empty, instead of what it was watched for.
  /// Throws PollError; then `watcher` does not watch it.
  void watch(Watcher& watcher, int descriptor, PollMask mask);
  /// No effect when it does not watch.
  void unwatch(Watcher& watcher, int descriptor) noexcept;

  /// A turn: begin, wait for what happens, end. Timers have fired when it ends.
  void begin_turn() noexcept { timers_.begin(); }
  void wait(backend::TurnMode mode, Instant wake_by);
  void end_turn() noexcept { fire_timers(); }
  /// The first thing when something is told.
  void fire_timers() noexcept { timers_.fire(attachment_); }

  /// Ends a wait. From any thread, and from signal handlers.
  void wake() noexcept;

  /// For reads that no reader waits for; valid during one readiness.
  [[nodiscard]] std::span<std::byte> spare_buffer() noexcept { return spare_; }

 private:
  class WakeUp;
  class Aside;

  struct Slot {
    Watcher::List watchers;
    PollMask native = PollMask::None;  // The backend's share of what is watched for.
    PollMask aside = PollMask::None;
    std::uint32_t version = 0;  // Changes whenever a watcher comes or goes.
  };

  /// A readiness for a later turn. It is dropped when the version of its slot has changed by then:
  /// the number may mean another file.
  struct Untold {
    int descriptor;
    PollMask mask;
    std::uint32_t version;
  };

  void ready(int descriptor, PollMask mask) noexcept override;
  void tell(Slot& slot, PollMask mask) noexcept;
  void tell_portion() noexcept;
  void apply(Slot& slot, int descriptor);
  /// The part of a watcher's mask that the backend watches.
  [[nodiscard]] PollMask native_share(const Watcher& watcher) const noexcept;
  void let_go(Slot& slot, int descriptor) noexcept;
  [[nodiscard]] Aside& aside();

  std::unique_ptr<Backend> backend_;
  fermata::detail::Attachment attachment_;
  std::deque<Slot> slots_;  // By descriptor; they stay where they are.
  unsigned told_ = 0;       // How often the latest wait has told at once.
  std::vector<Untold> untold_;
  std::size_t next_untold_ = 0;
  std::unique_ptr<WakeUp> wake_up_;
  std::unique_ptr<Aside> aside_;  // Once it is needed.
  os::TurnTimers timers_;
  std::array<std::byte, 64 * 1024> spare_;
};

}  // namespace fermata::poll::detail
