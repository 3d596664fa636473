// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/stream_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/net/host_address.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {

/// When a SYN is sent again; each time is twice the one before.
constexpr Duration kFirstRetry = std::chrono::seconds(1);

// The parts of the keys of draws.
constexpr std::uint64_t kHungKey = key_of("hung");
constexpr std::uint64_t kRefusedKey = key_of("refused");
constexpr std::uint64_t kResetKey = key_of("reset");
constexpr std::uint64_t kShortReadKey = key_of("short read");
constexpr std::uint64_t kShortWriteKey = key_of("short write");
constexpr std::uint64_t kRoomKey = key_of("room");

/// Null when there is none, and when it is down.
Machine* live_machine_at(Machine& from, const Address& address) noexcept {
  Machine* const machine = machine_at(from, address);
  return machine != nullptr && machine->is_down() ? nullptr : machine;
}

}  // namespace

std::shared_ptr<Connection> connection_to(Machine& machine, Network& network, const Address& peer,
                                          std::uint16_t own_port) {
  Machine* const server = live_machine_at(machine, peer);
  return network.make_connection(machine, server != nullptr ? *server : machine, peer, own_port);
}

StreamEnd::StreamEnd(StreamUser& user, Network& network, std::shared_ptr<Connection> connection,
                     Connection::Side side)
    : user_(user),
      network_(network),
      connection_(std::move(connection)),
      side_(side),
      machine_(*connection_->end(side).machine),
      inbound_(connection_->to(side)),
      outbound_(connection_->to(Connection::other(side))),
      key_(key_of(connection_->key(), side)),
      arrival_(*this),
      room_(*this),
      syn_(*this),
      repetition_(*this),
      answer_(*this),
      check_(*connection_, side_, key_) {
  FERMATA_ASSERT(connection_->end(side_).endpoint == nullptr);
  connection_->end(side_).endpoint = this;
}

const backend::StreamHandle* StreamEnd::far_handle() const noexcept {
  const auto* far =
      dynamic_cast<const StreamEnd*>(connection_->end(Connection::other(side_)).endpoint);
  return far == nullptr ? nullptr : far->user_.handle();
}

bool StreamEnd::draw_strike(Fault fault, std::uint64_t draw, const char* does) {
  FERMATA_ASSERT(!connection_->local());
  const auto tell = [&](const Decision&) {
    return fmt::format(fmt::runtime(does), connection_->text());
  };
  return machine().faults().strikes(fault, backend::RandomStream::Network, key_of(key_, draw),
                                    tell);
}

// --- establishing ---

void StreamEnd::dial() {
  FERMATA_ASSERT(side_ == Connection::Client);
  FERMATA_ASSERT(!connection_->local());
  if (live_machine_at(machine(), peer_address()) == nullptr) return dial_nobody();
  dialled_ = machine().now();
  retry_ = kFirstRetry;
  if (strikes(Fault::Hung, kHungKey, "{} is asked for and gets no answer")) {
    connection_->note(side_, Message::Kind::Connect, Message::Fate::Lost, Instant::never());
    answer_code_ = ETIMEDOUT;
    machine().agenda().schedule(answer_, dial_end(), key_);
    return;
  }
  send_syn();
}

// Nobody hears it on a closed link, or when the machine is down, and nobody answers.
void StreamEnd::send_syn() {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!answer_.is_scheduled());
  FERMATA_ASSERT(retry_ > Duration::zero());
  Machine& server = *connection_->end(Connection::Server).machine;
  const Instant arrival = connection_->arrival_from(side_, "connect");
  const bool lost = arrival == Instant::never() || server.is_down();
  syn_noted_ = connection_->note(side_, Message::Kind::Connect,
                                 lost ? Message::Fate::Lost : Message::Fate::UnderWay,
                                 lost ? Instant::never() : arrival);
  if (lost) return retransmit_syn();
  server.agenda().schedule(syn_, arrival, key_);
}

void StreamEnd::retransmit_syn() {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!repetition_.is_scheduled());
  const Instant again = machine().now() + std::exchange(retry_, retry_ * 2);
  if (again < dial_end()) return machine().agenda().schedule(repetition_, again, key_);
  answer_code_ = ETIMEDOUT;
  machine().agenda().schedule(answer_, dial_end(), key_);
}

void StreamEnd::dial_nobody() {
  FERMATA_ASSERT(side_ == Connection::Client);
  connection_->note(side_, Message::Kind::Connect, Message::Fate::Lost, Instant::never());
  answer_code_ = EHOSTUNREACH;
  machine().agenda().schedule(answer_, machine().now() + connection_->least_latency(), key_);
}

void StreamEnd::dial_locally() {
  FERMATA_ASSERT(connection_->local());
  Listening* listening = network_.listening_at(machine(), connection_->place());
  if (listening == nullptr) {
    answer_code_ = ENOENT;
  } else if (!listening->arrived(connection_)) {
    answer_code_ = EAGAIN;
  }
  machine().agenda().schedule(answer_, machine().now(), key_);
}

void StreamEnd::syn_arrived() {
  FERMATA_ASSERT(!answer_.is_scheduled());
  const Connection::End& server = connection_->end(Connection::Server);
  if (strikes(Fault::Refused, kRefusedKey, "{} is refused")) {
    record_syn(Message::Fate::Refused);
    return answer(ECONNREFUSED);
  }
  Listening* listening = network_.listening_at(*server.machine, server.address, machine());
  const bool unanswered = connection_->link_closed(Connection::Server);
  if (listening == nullptr && !unanswered) {
    record_syn(Message::Fate::Refused);
    return answer(ECONNREFUSED);
  }
  if (!unanswered && listening->arrived(connection_)) {
    record_syn(Message::Fate::Delivered);
    return answer(0);
  }
  record_syn(Message::Fate::Lost);
  const Instant again = server.machine->now() + std::exchange(retry_, retry_ * 2);
  if (again >= dial_end()) return answer(ETIMEDOUT);
  server.machine->agenda().schedule(syn_, again, key_);
}

void StreamEnd::answer(int code) {
  FERMATA_ASSERT(!syn_.is_scheduled());
  FERMATA_ASSERT(!answer_.is_scheduled());
  answer_code_ = code;
  const Instant sent = connection_->end(Connection::Server).machine->now();
  const Instant arrival = connection_->arrival_from(Connection::Server, "answer to a connect");
  const Instant limit = sent + check_.dial_limit();
  if (code == 0 && arrival > limit) answer_code_ = ETIMEDOUT;
  machine().agenda().schedule(answer_, std::min(arrival, limit), key_);
  RunLog* const told = syn_noted_ != 0 ? machine().run_log() : nullptr;
  if (told != nullptr && code != ETIMEDOUT) told->message_log().answered(syn_noted_, arrival);
}

void StreamEnd::record_syn(Message::Fate fate) {
  RunLog* const told = syn_noted_ != 0 ? machine().run_log() : nullptr;
  if (told == nullptr) return;
  const bool arrived = fate != Message::Fate::Lost;
  const Instant now = connection_->end(Connection::Server).machine->now();
  told->message_log().became(syn_noted_, fate, arrived ? now : Instant::never());
}

// Whoever has no answer yet sends its SYN again, or learns that nobody listens.
void StreamEnd::peer_crashed(bool silent) {
  if (silent && !connection_->local()) check_.peer_vanished();
  if (!syn_.is_scheduled()) return;
  FERMATA_ASSERT(side_ == Connection::Client);
  syn_.cancel();
  record_syn(Message::Fate::Lost);
  if (silent) return retransmit_syn();
  answer_code_ = ECONNREFUSED;
  machine().agenda().schedule(answer_, machine().now() + connection_->least_latency(), key_);
}

void StreamEnd::answered() {
  FERMATA_ASSERT(side_ == Connection::Client);
  const Arrival arrival(machine().run_log(), syn_noted_);
  if (answer_code_ == 0) check_.established();
  user_.connected_end(answer_code_);
}

// --- reading ---

void StreamEnd::want_input(bool value) noexcept {
  FERMATA_ASSERT(!watches_);
  wants_input_ = value;
  if (value) {
    expect_arrival();
  } else if (!wants_room_) {
    arrival_.cancel();
  }
}

void StreamEnd::watch(bool value) noexcept {
  FERMATA_ASSERT(!wants_input_ && !wants_room_);
  watches_ = value;
  if (value) {
    expect_arrival();
  } else {
    arrival_.cancel();
    room_.cancel();
  }
}

void StreamEnd::expect_arrival() {
  if (!wants_input_ && !wants_room_ && !watches_) return;
  FERMATA_ASSERT(!watches_ || (!wants_input_ && !wants_room_));
  const bool at_once =
      !watches_ && (broken() || (wants_input_ && (!unread().empty() || input_ended())));
  const Instant when = at_once ? machine().now() : inbound_.next_arrival();
  if (arrival_.scheduled_by(when)) return;
  arrival_.cancel();
  if (when != Instant::never()) machine().agenda().schedule(arrival_, when, key_);
}

void StreamEnd::refuse_input(std::size_t bytes) {
  FERMATA_ASSERT(bytes <= unread().size());
  inbound_.drop_last(bytes);
  if (!broken()) connection_->break_down(side_);
}

// --- writing ---

void StreamEnd::want_room(bool value) noexcept {
  FERMATA_ASSERT(!watches_);
  wants_room_ = value;
  if (!value) return;
  expect_arrival();
  expect_room(machine().now());
}

void StreamEnd::expect_room(Instant when) {
  if ((!wants_room_ && !watches_) || room_.is_scheduled()) return;
  machine().agenda().schedule(room_, when, key_of(key_, kRoomKey));
}

int StreamEnd::obstacle() {
  if (connection_->local()) {
    return connection_->end(Connection::other(side_)).closed ? EPIPE : 0;
  }
  return connection_->broken(side_) || breaks_down() ? connection_->broken_code(side_) : 0;
}

// A short write may take nothing at all, as when the system would block.
std::size_t StreamEnd::accept(std::span<const std::byte> data) {
  const std::size_t whole = std::min(data.size(), room());
  const std::size_t part = drawn_write(whole);
  FERMATA_ASSERT(part <= whole);
  if (part > 0) connection_->send(side_, data.first(part));
  return part;
}

std::size_t StreamEnd::part_read(std::size_t whole) {
  FERMATA_ASSERT(whole >= 2);
  const auto tell = [&](const Decision& decision) {
    return fmt::format("a read of '{}' gives {}, on {}", machine().name(),
                       part_of_bytes(decision.value, whole), connection_->text());
  };
  const std::uint64_t drawn = machine().faults().strength(
      Fault::ShortRead, backend::RandomStream::Network, key_of(key_, kShortReadKey), whole, tell);
  FERMATA_ASSERT(drawn < whole);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn);
}

std::size_t StreamEnd::part_written(std::size_t whole) {
  FERMATA_ASSERT(whole > 0);
  const auto tell = [&](const Decision& decision) {
    const std::size_t part = decision.value - 1;
    return fmt::format("a write of '{}' {}, on {}", machine().name(),
                       part == 0 ? "has to wait" : "takes " + part_of_bytes(part, whole),
                       connection_->text());
  };
  const std::uint64_t drawn =
      machine().faults().strength(Fault::ShortWrite, backend::RandomStream::Network,
                                  key_of(key_, kShortWriteKey), whole + 1, tell);
  FERMATA_ASSERT(drawn <= whole);
  return drawn == 0 ? whole : static_cast<std::size_t>(drawn - 1);
}

bool StreamEnd::breaks_down() {
  if (!strikes(Fault::Reset, kResetKey, "{} is reset")) return false;
  connection_->break_down(side_);
  FERMATA_ASSERT(connection_->broken(side_));
  expect_arrival();
  return true;
}

void StreamEnd::gave_up() {
  FERMATA_ASSERT(broken());
  if (watches_) return user_.input_came();
  expect_arrival();
}

// --- options, closing ---

int StreamEnd::set_option(backend::SocketOption option, int value) {
  if (connection_->local()) return ENOPROTOOPT;
  FERMATA_ASSERT(static_cast<std::size_t>(option) < options_.size());
  options_[static_cast<std::size_t>(option)] = value;
  if (option == backend::SocketOption::KeepAlive) {
    const bool asks = value > 0;
    check_.set({.repeats = asks, .asks = asks, .idle = std::chrono::seconds(value)});
  }
  const Connection::Side there = Connection::other(side_);
  if (option == backend::SocketOption::SendBuffer) {
    connection_->to(there).set_sender_buffer(static_cast<std::size_t>(value));
    expect_room(machine().now());
  } else if (option == backend::SocketOption::ReceiveBuffer) {
    connection_->to(side_).set_receiver_buffer(static_cast<std::size_t>(value));
    Endpoint* const sender = connection_->end(there).endpoint;
    if (sender != nullptr) sender->expect_room(machine().now() + connection_->least_latency());
  }
  return 0;
}

int StreamEnd::option(backend::SocketOption option, int& value) const {
  if (connection_->local()) return ENOPROTOOPT;
  FERMATA_ASSERT(static_cast<std::size_t>(option) < options_.size());
  value = options_[static_cast<std::size_t>(option)];
  return 0;
}

void StreamEnd::close() noexcept {
  wants_input_ = false;
  wants_room_ = false;
  watches_ = false;
  arrival_.cancel();
  room_.cancel();
  syn_.cancel();
  repetition_.cancel();
  answer_.cancel();
  check_.stop();
  if (options_[static_cast<std::size_t>(backend::SocketOption::ResetOnClose)] != 0) {
    connection_->send_reset(side_);
  }
  connection_->close(side_);
  FERMATA_ASSERT(connection_->end(side_).closed);
}

}  // namespace fermata::sim::detail
