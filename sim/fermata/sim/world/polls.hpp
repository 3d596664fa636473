// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readiness of simulated descriptors.
//
// Level     What stays ready is told in every turn. A turn that finds what the one before it has
//           told takes a microsecond, so that time passes for a program that does not use it up.
// Order     Descriptors that are ready in one turn are told in a drawn order.
// Faults    spurious-readiness: one that is watched is told to be ready, once, and may not be.
//           interrupted: a wait ends early, with nothing.
// Closing   A descriptor that is closed while somebody waits for it is told as gone in the next
//           turn; its number may then mean another file, which is never mistaken for it.

#include "fermata/reactor/poll.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/posix/descriptor_calls.hpp"
#include "fermata/sim/posix/descriptor_table.hpp"

namespace fermata::sim::detail {

class Program;
class SimPolls;

class SimPoll final : public backend::Poll, private DescriptionWatcher {
 public:
  /// Throws PollError unless `descriptor` can be watched.
  SimPoll(SimPolls& polls, Program& program, int descriptor);
  ~SimPoll() override { stop_watching(); }

  [[nodiscard]] bool same_file() const noexcept override { return file() != nullptr; }

 private:
  void arm_mask(PollMask mask) override;
  void disarm_mask() noexcept override;
  void close_backend() noexcept override;
  void explain_descriptor(backend::WaitFacts& facts) const override;

  void look(Readiness news = kAnything) override;
  void gone(Description& description) override;
  void stop_watching() noexcept;
  /// What the number meant when this was made; null when that was closed.
  [[nodiscard]] std::shared_ptr<Description> file() const noexcept;
  [[nodiscard]] PollMask readiness() const noexcept;
  void plan_false_alarm();
  void tell();
  void tell_falsely();
  void set_tells_again(bool value) noexcept;

  SimPolls& polls_;
  Program& program_;
  std::weak_ptr<Description> file_;
  std::uint64_t key_;
  bool watches_ = false;
  PollMask wanted_ = PollMask::None;
  MemberHappening<SimPoll, &SimPoll::tell> report_;
  MemberHappening<SimPoll, &SimPoll::tell_falsely> false_alarm_;
  Instant told_at_ = Instant::never();
  bool tells_again_ = false;
};

class SimPolls final : public backend::Polls {
 public:
  SimPolls(fermata::detail::Attachment& attachment, Program& program);

  [[nodiscard]] backend::DescriptorCalls& calls() noexcept override { return calls_; }
  [[nodiscard]] DescriptorTable& table() noexcept { return table_; }

  /// Before a turn: a round of telling the same again takes time.
  void begin_turn() {
    if (telling_again_ > 0) [[unlikely]] {
      pass_round();
    }
  }
  /// When the wait that begins is interrupted; never() when it is not.
  [[nodiscard]] Instant interruption() {
    return armed_ == 0 ? Instant::never() : drawn_interruption();
  }

 private:
  void pass_round();
  [[nodiscard]] Instant drawn_interruption();

  friend class SimPoll;

  Ref<backend::Poll> make(int descriptor) override;

  Program& program_;
  std::uint64_t wait_key_;
  DescriptorTable table_;
  SimDescriptorCalls calls_;
  std::size_t armed_ = 0;
  std::size_t telling_again_ = 0;
};

}  // namespace fermata::sim::detail
