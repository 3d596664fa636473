// SPDX-License-Identifier: Apache-2.0
#pragma once

// A simulated process: it performs a script on the agenda of its machine.
//
// Streams  Ends of pipes like those of a program; null where it has none. They are closed when it
//          ends, before its end is noticed.

#include <bitset>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/process.hpp"
#include "fermata/sim/machine/member_happening.hpp"
#include "fermata/sim/net/connection.hpp"
#include "fermata/sim/process/scripted_program.hpp"

namespace fermata::sim::detail {

class Machine;
class SimChild;

/// An end of a pipe that a child has.
class ChildStream final : public Endpoint {
 public:
  /// The end `side` of `connection`; no stream when that is null.
  ChildStream(SimChild& child, std::shared_ptr<Connection> connection, Connection::Side side);
  ~ChildStream() { close(); }

  void expect_arrival() override;
  void expect_room(Instant) override { expect_arrival(); }
  // Both ends are within one machine, which sends nothing through a network.
  void peer_crashed(bool) override {}

  /// What can be read now.
  [[nodiscard]] std::span<const std::byte> unread();
  void take(std::size_t size) {
    FERMATA_ASSERT(size <= unread().size());
    connection_->consumed(side_, size);
  }
  [[nodiscard]] bool at_end() const noexcept;

  /// Takes what there is room for; everything when there is no stream.
  std::size_t write(std::span<const std::byte> data);
  /// Nobody will read.
  [[nodiscard]] bool is_broken() const;

  void close() noexcept;

 private:
  SimChild& child_;
  std::shared_ptr<Connection> connection_;
  Connection::Side side_;
};

/// The pipes of one child; null for a stream without a pipe.
struct ChildPipes {
  std::shared_ptr<Connection> input;
  std::shared_ptr<Connection> output;
  std::shared_ptr<Connection> errors;
};

class SimChild {
 public:
  SimChild(Machine& machine, std::uint64_t key, std::string name, ScriptedProgram program,
           const ChildPipes& pipes);
  SimChild(const SimChild&) = delete;
  SimChild& operator=(const SimChild&) = delete;

  /// How it ended, absent until that is noticed. Nobody is to ask again.
  std::optional<ProcessExit> reap() noexcept {
    FERMATA_ASSERT(!reaped_);
    reaped_ = noticed_.has_value();
    return noticed_;
  }
  [[nodiscard]] bool is_reaped() const noexcept { return reaped_; }
  /// Nothing of it is left.
  [[nodiscard]] bool is_gone() const noexcept { return reaped_ && !close_.is_scheduled(); }

  void signal(int signum);

  /// A stream may have moved.
  void wake();

 private:
  using Step = ScriptedProgram::Step;

  void go_on();
  /// False when it must wait; then it is performed again.
  bool perform(const Step& step);
  bool take_time(Duration duration);
  bool write(const Step& step);
  bool copy_input();
  bool read_input();
  void end(ProcessExit exit);
  void die();
  void close_streams();
  void notice();
  /// How long it takes until the process `does`, as reports say it: "starts after".
  Duration drawn(const char* draw, const char* does);

  Machine& machine_;
  std::uint64_t key_;
  std::string name_;
  ScriptedProgram program_;
  ChildStream input_;
  ChildStream output_;
  ChildStream errors_;
  std::size_t at_ = 0;       // The step that is performed.
  std::size_t written_ = 0;  // Of its text.
  bool begun_ = false;
  bool resting_ = false;
  bool reaped_ = false;
  std::bitset<NSIG> ignored_;
  const Step* left_behind_ = nullptr;
  int deadly_ = 0;  // The signal that is about to kill it.
  std::optional<ProcessExit> exit_;
  std::optional<ProcessExit> noticed_;
  MemberHappening<SimChild, &SimChild::go_on> step_;
  MemberHappening<SimChild, &SimChild::die> death_;
  MemberHappening<SimChild, &SimChild::close_streams> close_;
  MemberHappening<SimChild, &SimChild::notice> notice_;
};

}  // namespace fermata::sim::detail
