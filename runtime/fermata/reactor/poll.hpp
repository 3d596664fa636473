// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readiness of descriptors that users bring.
//
// Sharing      One Poll for each descriptor, any number of proxies on it, each with a mask of its
//              own; the backend watches for the union of the started ones (POLL-01, POLL-08).
// Dispatch     A proxy is told of readiness in its mask, in start order. Hang-up, an error and a
//              descriptor closed behind our back are terminal: every started proxy is told, and the
//              backend stops until a proxy is started again (POLL-02, POLL-03).
// Level        A descriptor that stays ready is reported again each time a proxy is started.
// Numbers      A Poll is about the file that its number meant when it was made. When that file is
//              closed, and the number means another one, the Poll is over: its proxies are told
//              Disconnect and cannot be started again, and open() makes another Poll.

#include <cstdint>
#include <exception>
#include <map>

#include "fermata/reactor/descriptor_calls.hpp"
#include "fermata/reactor/dispatch_list.hpp"
#include "fermata/reactor/handle.hpp"

namespace fermata {

namespace backend {
class Polls;
}  // namespace backend

/// A set of readiness bits.
enum class PollMask : std::uint8_t {
  None = 0,
  Readable = 1,
  Writable = 2,
  Disconnect = 4,   // hang-up, error, or the descriptor is gone
  Prioritized = 8,  // out-of-band data
};

[[nodiscard]] constexpr PollMask operator|(PollMask a, PollMask b) noexcept {
  return static_cast<PollMask>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
[[nodiscard]] constexpr PollMask operator&(PollMask a, PollMask b) noexcept {
  return static_cast<PollMask>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
}
constexpr PollMask& operator|=(PollMask& a, PollMask b) noexcept { return a = a | b; }
[[nodiscard]] constexpr bool any(PollMask mask) noexcept { return mask != PollMask::None; }
/// "READABLE|DISCONNECT".
[[nodiscard]] std::string to_string(PollMask mask);

namespace backend {

class Poll;

/// Waits for some kinds of readiness of a descriptor. May be shared by several waiters; lives
/// wherever its owner puts it.
class PollProxy final : public Event {
 public:
  PollProxy(Poll& poll, PollMask events);
  ~PollProxy() override;

  [[nodiscard]] Poll& poll() const noexcept { return *poll_; }
  [[nodiscard]] PollMask events() const noexcept { return events_; }
  /// The readiness that the last fire reported.
  [[nodiscard]] PollMask triggered() const noexcept { return triggered_; }
  /// A promise of its owner, who calls poll().require_same_file() before each use of the
  /// descriptor: then readiness is told without that question to the system. Off by default.
  void set_asks_for_file(bool value) noexcept { asks_for_file_ = value; }
  [[nodiscard]] std::string info() const override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class Poll;

  void arm() override;
  void disarm() noexcept override;
  void dispose() noexcept override {}

  Ref<Poll> poll_;
  PollMask events_;
  PollMask triggered_ = PollMask::None;
  bool asks_for_file_ = false;
  detail::DispatchLink<PollProxy> link_;

 public:
  using List = detail::DispatchList<PollProxy, &PollProxy::link_>;
};

/// One descriptor in the backend. Users wait through proxies.
class Poll : public Handle {
 public:
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// The mask that the backend watches for now.
  [[nodiscard]] PollMask armed() const noexcept { return armed_; }
  /// Whether the number still means the file that it meant when this was made. Two files that the
  /// system tells apart by nothing, such as two eventfds, count as one.
  [[nodiscard]] virtual bool same_file() const noexcept = 0;
  /// Throws PollError unless same_file().
  void require_same_file() const;

  /// The descriptor is closed, once, when the backend has let go of it (POLL-07). Off by default.
  void set_close_descriptor(bool value) noexcept { close_descriptor_ = value; }
  /// A socket may seem readable and have nothing. Whoever reads without blocking, and waits again,
  /// need not be spared that, which takes a look at each readiness. Off by default.
  void set_may_be_spurious(bool value) noexcept { may_be_spurious_ = value; }
  [[nodiscard]] std::string info() const override;

 protected:
  Poll(Polls& polls, int descriptor);
  ~Poll() override;

  // --- hooks ---

  /// Watch for `mask`, which is not empty, instead of what was watched before. Throws PollError.
  virtual void arm_mask(PollMask mask) = 0;
  virtual void disarm_mask() noexcept = 0;
  /// Reports what the descriptor is and who makes it ready, for explanations of waits.
  virtual void explain_descriptor(WaitFacts& facts) const;

  // --- for the backend ---

  /// Some of the readiness in `mask`, or in any case Disconnect, is there; `error` when the backend
  /// knows why it ended.
  void ready(PollMask mask, std::exception_ptr error = nullptr);

  [[nodiscard]] bool closes_descriptor() const noexcept { return close_descriptor_; }
  [[nodiscard]] bool may_be_spurious() const noexcept { return may_be_spurious_; }
  /// Whether every started proxy asks for the file itself.
  [[nodiscard]] bool proxies_ask_for_file() const noexcept;

 private:
  friend class PollProxy;
  friend class Polls;

  /// Its number means another file: open() has found that.
  void retire();
  void leave_table() noexcept;
  [[nodiscard]] PollMask wanted() const noexcept;
  void join(PollProxy& proxy);
  void leave(PollProxy& proxy) noexcept;
  void set_armed(PollMask mask);
  void disarm() noexcept override;
  void fail_parked() override;

  Polls& polls_;
  int descriptor_;
  PollMask armed_ = PollMask::None;
  bool close_descriptor_ = false;
  bool may_be_spurious_ = false;
  bool retired_ = false;
  PollProxy::List proxies_;
};

class Polls {
 public:
  virtual ~Polls() = default;

  /// The one Poll of the file that `descriptor` means now. Throws PollError when it cannot be
  /// watched: it is not open, or a regular file.
  [[nodiscard]] Ref<Poll> open(int descriptor);

  /// How programs read, write and close what is watched here.
  [[nodiscard]] virtual DescriptorCalls& calls() noexcept { return system_descriptor_calls(); }

 protected:
  explicit Polls(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hook ---

  /// A new Poll, not armed. Throws PollError.
  virtual Ref<Poll> make(int descriptor) = 0;

  detail::Attachment& attachment_;

 private:
  friend class Poll;

  std::map<int, Poll*> by_descriptor_;
};

}  // namespace backend

}  // namespace fermata
