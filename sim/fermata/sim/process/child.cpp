// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/process/child.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"

namespace fermata::sim::detail {

namespace {

constexpr Duration kShortest = std::chrono::microseconds(200);
constexpr std::uint64_t kLatencies = 6;  // Each twice the one before.
constexpr Duration kLeastSlowness = std::chrono::microseconds(100);
constexpr std::uint64_t kSlownesses = 13;  // Each twice the one before; the longest is 410 ms.

/// What happens to a process that does nothing about the signal.
bool is_harmless(int signum) noexcept {
  return signum == 0 || signum == SIGCHLD || signum == SIGCONT || signum == SIGURG ||
         signum == SIGWINCH;
}

}  // namespace

// --- a stream ---

ChildStream::ChildStream(SimChild& child, std::shared_ptr<Connection> connection,
                         Connection::Side side)
    : child_(child), connection_(std::move(connection)), side_(side) {
  if (!connection_) return;
  FERMATA_ASSERT(connection_->local());
  FERMATA_ASSERT(connection_->end(side_).endpoint == nullptr);
  connection_->end(side_).endpoint = this;
}

void ChildStream::expect_arrival() { child_.wake(); }

std::span<const std::byte> ChildStream::unread() {
  if (!connection_) return {};
  Pipe& inbound = connection_->to(side_);
  inbound.arrive(connection_->end(side_).machine->now());
  FERMATA_ASSERT(inbound.under_way() == 0);
  return inbound.peek();
}

bool ChildStream::at_end() const noexcept {
  return !connection_ || connection_->to(side_).is_ended() || connection_->broken(side_);
}

std::size_t ChildStream::write(std::span<const std::byte> data) {
  if (!connection_) return data.size();
  const std::size_t room = connection_->to(Connection::other(side_)).room();
  const std::size_t size = std::min(data.size(), room);
  if (size > 0) connection_->send(side_, data.first(size));
  return size;
}

bool ChildStream::is_broken() const {
  return connection_ && connection_->end(Connection::other(side_)).closed;
}

void ChildStream::close() noexcept {
  if (const auto connection = std::exchange(connection_, nullptr)) connection->close(side_);
}

// --- a child ---

SimChild::SimChild(Machine& machine, std::uint64_t key, std::string name, ScriptedProgram program,
                   const ChildPipes& pipes)
    : machine_(machine),
      key_(key),
      name_(std::move(name)),
      program_(std::move(program)),
      input_(*this, pipes.input, Connection::Server),
      output_(*this, pipes.output, Connection::Client),
      errors_(*this, pipes.errors, Connection::Client),
      step_(*this),
      death_(*this),
      close_(*this),
      notice_(*this) {
  machine_.agenda().schedule(step_, machine_.now() + drawn("start", "starts after"), key_);
}

Duration SimChild::drawn(const char* draw, const char* does) {
  const auto tell = [&](const Decision& decision) {
    return fmt::format("process '{}' {} {}", name_, does,
                       amount(kShortest * (1 << decision.value)));
  };
  return kShortest * (1 << machine_.decisions().draw(backend::RandomStream::Time,
                                                     key_of(key_, draw), kLatencies, tell));
}

void SimChild::wake() {
  if (!begun_ || resting_ || exit_ || deadly_ != 0 || step_.is_scheduled()) return;
  machine_.agenda().schedule(step_, machine_.now(), key_);
}

void SimChild::go_on() {
  FERMATA_ASSERT(!exit_);
  FERMATA_ASSERT(deadly_ == 0);
  begun_ = true;
  for (; at_ < program_.steps().size(); ++at_) {
    if (!perform(program_.steps()[at_])) return;
    written_ = 0;
  }
  end(ProcessExit::exited(0));
}

bool SimChild::perform(const Step& step) {
  switch (step.kind) {
    case Step::Kind::Take:
      return take_time(step.duration);
    case Step::Kind::Write:
      return write(step);
    case Step::Kind::CopyInput:
      return copy_input();
    case Step::Kind::ReadInput:
      return read_input();
    case Step::Kind::Ignore:
      ignored_.set(static_cast<std::size_t>(step.number));
      return true;
    case Step::Kind::LeaveBehind:
      left_behind_ = &step;
      return true;
    case Step::Kind::Exit:
      end(ProcessExit::exited(step.number));
      return false;
    case Step::Kind::Die:
      end(ProcessExit::killed(step.number));
      return false;
  }
  return true;
}

bool SimChild::take_time(Duration duration) {
  resting_ = !resting_;
  if (resting_) machine_.agenda().schedule(step_, machine_.now() + duration, key_);
  return !resting_;
}

bool SimChild::write(const Step& step) {
  FERMATA_ASSERT(written_ <= step.text.size());
  ChildStream& stream = step.number == 1 ? output_ : errors_;
  if (stream.is_broken()) {
    end(ProcessExit::killed(SIGPIPE));
    return false;
  }
  written_ += stream.write(std::as_bytes(std::span(step.text)).subspan(written_));
  return written_ == step.text.size();
}

bool SimChild::copy_input() {
  while (true) {
    const std::span<const std::byte> there = input_.unread();
    if (there.empty()) return input_.at_end();
    if (output_.is_broken()) {
      end(ProcessExit::killed(SIGPIPE));
      return false;
    }
    const std::size_t size = output_.write(there);
    FERMATA_ASSERT(size <= there.size());
    if (size == 0) return false;
    input_.take(size);
  }
}

bool SimChild::read_input() {
  for (std::size_t size = input_.unread().size(); size > 0; size = input_.unread().size()) {
    input_.take(size);
  }
  return input_.at_end();
}

// --- its end ---

void SimChild::signal(int signum) {
  if (is_harmless(signum) || exit_ || deadly_ == SIGKILL) return;
  const bool ignored = ignored_.test(static_cast<std::size_t>(signum));
  if (signum != SIGKILL && (ignored || deadly_ != 0)) return;
  deadly_ = signum;
  step_.cancel();
  if (!death_.is_scheduled())
    machine_.agenda().schedule(death_, machine_.now() + drawn("death", "ends, killed, after"),
                               key_);
}

void SimChild::die() {
  FERMATA_ASSERT(deadly_ != 0);
  end(ProcessExit::killed(deadly_));
}

void SimChild::end(ProcessExit exit) {
  FERMATA_ASSERT(!exit_);
  FERMATA_ASSERT(!step_.is_scheduled());
  exit_ = exit;
  death_.cancel();
  if (left_behind_ != nullptr) {
    machine_.agenda().schedule(close_, machine_.now() + left_behind_->duration,
                               key_of(key_, "left behind"));
  } else {
    close_streams();
  }
  const auto tell = [&](const Decision& decision) {
    return fmt::format("the end of process '{}' is noticed {} late", name_,
                       amount(kLeastSlowness * (1 << decision.value)));
  };
  const std::uint64_t slow = machine_.faults().strength(
      Fault::SlowExit, backend::RandomStream::Time, key_of(key_, "slow exit"), kSlownesses, tell);
  if (slow == 0) return notice();
  machine_.agenda().schedule(notice_, machine_.now() + kLeastSlowness * (1 << slow), key_);
}

void SimChild::close_streams() {
  if (left_behind_ != nullptr) output_.write(std::as_bytes(std::span(left_behind_->text)));
  for (ChildStream* each : {&input_, &output_, &errors_}) each->close();
}

void SimChild::notice() {
  FERMATA_ASSERT(exit_);
  FERMATA_ASSERT(!noticed_);
  noticed_ = exit_;
  machine_.signal(SIGCHLD);
}

}  // namespace fermata::sim::detail
