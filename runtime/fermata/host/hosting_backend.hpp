// SPDX-License-Identifier: Apache-2.0
#pragma once

// Waiting in a loop of somebody else: whatever there is to wait for makes one descriptor readable,
// which the host watches, and control goes to the host meanwhile.

#include "fermata/os/epoll_set.hpp"
#include "fermata/poll/backend.hpp"

namespace fermata::host::detail {

/// Switches between the guest and its host.
class Gate {
 public:
  /// Whether the guest has had its share of the host's time for now.
  [[nodiscard]] virtual bool turn_is_over() const noexcept = 0;
  /// Gives control to the host until it pumps. `waits`: nothing is left to do before something
  /// happens or time has passed.
  virtual void leave(bool waits) noexcept = 0;

 protected:
  ~Gate() = default;
};

class HostingBackend final : public poll::Backend {
 public:
  /// `name` must live as long. Throws InputOutputError.
  HostingBackend(std::string_view name, Gate& gate);
  ~HostingBackend() override;

  /// Readable when the guest wants to be pumped. The same all its life.
  [[nodiscard]] int descriptor() const noexcept { return outer_; }

  /// The descriptor becomes readable at `at`, now when that is past.
  void set_alarm(Instant at) noexcept;
  void ask_for_turn() noexcept { set_alarm(Instant{}); }

  /// The descriptor is not readable any more, whatever happens.
  void fall_silent() noexcept;

  /// From now on waits are spent here, without the host.
  void lose_host() noexcept { hosted_ = false; }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] poll::Capabilities capabilities() const noexcept override;
  void watch(int descriptor, PollMask mask) override { set_.watch(descriptor, mask); }
  void unwatch(int descriptor) noexcept override { set_.unwatch(descriptor); }
  void wait(Instant wake_by, poll::Sink& sink) override;

 private:
  [[nodiscard]] bool tell(Instant wake_by, poll::Sink& sink);

  std::string_view name_;
  Gate& gate_;
  os::EpollSet set_;
  int outer_;
  int timer_;
  Instant alarm_ = Instant::never();
  bool hosted_ = true;
};

}  // namespace fermata::host::detail
