// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/connection.hpp"

#include <fmt/format.h>
#include <climits>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/inlining.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/latency.hpp"
#include "fermata/sim/net/link_state.hpp"
#include "fermata/sim/net/peer_check.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

namespace {
constexpr std::uint64_t kDelayKey = key_of("delay");
}

Connection::Connection(std::uint64_t number, End client, End server, LinkState& there,
                       LinkState& back)
    : key_(key_of(there.key(), number - 1)),
      number_(number),
      delay_keys_{key_of(key_of(key_, Client), kDelayKey), key_of(key_of(key_, Server), kDelayKey)},
      ends_{client, server},
      links_{&there, &back} {
  FERMATA_ASSERT(&there.from() == ends_[Client].machine);
  FERMATA_ASSERT(&there.to() == ends_[Server].machine);
  FERMATA_ASSERT(&back.from() == &there.to());
  FERMATA_ASSERT(&back.to() == &there.from());
}

Connection::Connection(std::uint64_t key, Machine& machine, std::string place)
    : key_(key), delay_keys_{}, place_(std::move(place)) {
  FERMATA_ASSERT(local());
  for (End& end : ends_) end.machine = &machine;
}

std::string Connection::text() const {
  FERMATA_ASSERT(local() == (number_ == 0));
  if (local()) return fmt::format("the pipe '{}'", place_);
  return fmt::format("the {} connection {}, port {}", ordinal(number_), links_[Client]->text(),
                     ends_[Server].address.port());
}

Duration Connection::least_latency() const noexcept {
  return local() ? Duration::zero() : links_[Client]->least_latency();
}

bool Connection::link_closed(Side from) const noexcept {
  return !local() && links_[from]->is_closed();
}

Instant Connection::arrival_from(Side from, const char* what, std::size_t bytes) {
  Machine& machine = *ends_[from].machine;
  if (local()) return machine.now();
  LinkState& link = *links_[from];
  const Parcel parcel{.what = what, .number = bytes > 0 ? link.next_message() : 0};
  const Instant arrival = link.arrival(bytes, parcel);
  if (arrival == Instant::never()) {
    if (PeerCheck* const check = peer_check(from)) check->sent(arrival);
    return arrival;
  }
  FERMATA_ASSERT(arrival >= machine.now());
  if (machine.faults().is_absent(Fault::Delay)) return arrival;
  return arrival + drawn_delay(from, parcel);
}

Duration Connection::drawn_delay(Side from, const Parcel& parcel) {
  const auto tell = [&](Duration delay) {
    return fmt::format("{} is delayed by {}", links_[from]->text(parcel), amount(delay));
  };
  return extra_delay(*ends_[from].machine, Fault::Delay, delay_keys_[from], tell);
}

void Connection::send(Side from, std::span<const std::byte> bytes) {
  FERMATA_ASSERT(!bytes.empty());
  if (crashed(from)) return;
  const Side there = other(from);
  const Instant arrival = arrival_from(from, "message", bytes.size());
  if (ends_[there].closed) [[unlikely]] {
    return send_to_nobody(from, bytes, arrival);
  }
  if (to(there).send(bytes, arrival)) {
    note(from, Message::Kind::Data, Message::Fate::UnderWay, to(there).last_arrival(), bytes);
    if (PeerCheck* const check = peer_check(from)) check->sent(to(there).last_arrival());
  }
  tell(there);
}

FERMATA_COLD void Connection::send_to_nobody(Side from, std::span<const std::byte> bytes,
                                             Instant arrival) {
  const Side there = other(from);
  FERMATA_ASSERT(ends_[there].closed);
  if (ends_[there].silent && ends_[there].machine->is_down()) {
    note(from, Message::Kind::Data, Message::Fate::Lost, Instant::never(), bytes);
    if (PeerCheck* const check = peer_check(from)) check->lost();
    return;
  }
  to(there).send(bytes, arrival);  // It takes room until the reset comes back.
  note(from, Message::Kind::Data, Message::Fate::Refused, arrival, bytes);
  refuse(there, arrival);
  tell(from);
}

void Connection::refuse(Side there, Instant when) {
  FERMATA_ASSERT(ends_[there].closed);
  Pipe& back = to(other(there));
  back.lose_unsent();
  if (!back.send_reset(when + least_latency())) return;
  const MessageLog::Id id =
      note(there, Message::Kind::Reset, Message::Fate::UnderWay, back.last_arrival());
  if (id != 0) run_log(there)->message_log().left(id, when);
}

void Connection::send_end(Side from) {
  if (crashed(from)) return;
  Pipe& away = to(other(from));
  if (away.send_end(arrival_from(from, "end of a connection"))) {
    note(from, Message::Kind::End, Message::Fate::UnderWay, away.last_arrival());
  }
  tell(other(from));
}

void Connection::send_reset(Side from) {
  if (crashed(from)) return;
  Pipe& away = to(other(from));
  if (!local()) away.lose_unsent();
  if (away.send_reset(arrival_from(from, "reset of a connection"))) {
    note(from, Message::Kind::Reset, Message::Fate::UnderWay, away.last_arrival());
  }
  tell(other(from));
}

// A writer to a pipe may wait for more room than a byte.
void Connection::consumed(Side by, std::size_t bytes) {
  const std::size_t enough = local() ? PIPE_BUF : 1;
  const bool was_full = to(by).room() < enough;
  to(by).consume(bytes);
  End& sender = ends_[other(by)];
  if (was_full && sender.endpoint != nullptr) {
    sender.endpoint->expect_room(ends_[by].machine->now() + least_latency());
  }
}

void Connection::close(Side side) {
  End& here = ends_[side];
  here.endpoint = nullptr;  // It may have come when the machine had crashed.
  if (std::exchange(here.closed, true)) return;
  if (broken(side)) return;
  if (to(side).unread() + to(side).under_way() > 0) {
    send_reset(side);
  } else {
    send_end(side);
  }
}

void Connection::crash(Side side, bool silent) {
  End& here = ends_[side];
  if (here.closed) return;
  FERMATA_ASSERT(!crashed_[side]);
  if (!silent) send_reset(side);
  if (RunLog* const told = run_log(side)) {
    told->message_log().cut_off(key_, side == Server, here.machine->earliest_visible_time());
  }
  here = {.machine = here.machine,
          .address = here.address,
          .endpoint = nullptr,
          .closed = true,
          .silent = silent};
  crashed_[side] = true;
  Endpoint* const peer = ends_[other(side)].endpoint;
  if (peer != nullptr) peer->peer_crashed(silent);
}

void Connection::break_down(Side here) {
  FERMATA_ASSERT(!broken(here));
  broken_here_[here] = true;
  send_reset(here);
}

void Connection::give_up(Side here) {
  FERMATA_ASSERT(!local());
  if (RunLog* const told = run_log(here)) told->message_log().given_up(key_, here == Client);
  broken_here_[here] = true;
  broken_codes_[here] = ETIMEDOUT;
  if (ends_[here].endpoint != nullptr) ends_[here].endpoint->gave_up();
}

bool Connection::can_hear(Side from) const noexcept {
  if (local()) return true;
  if (vanished(other(from))) return false;
  return links_[Client]->gets_through() && links_[Server]->gets_through();
}

Connection::Echo Connection::ask(Side from) {
  FERMATA_ASSERT(!local());
  FERMATA_ASSERT(!broken(from));
  const Side there = other(from);
  const bool gets_through = links_[Client]->gets_through() && links_[Server]->gets_through();
  if (!gets_through || ends_[there].machine->is_down()) return Echo::None;
  if (!vanished(there)) return Echo::Alive;
  refuse(there, ends_[from].machine->now() + least_latency());
  tell(from);
  return Echo::Reset;
}

void Connection::reopened(Side from, Instant when) {
  FERMATA_ASSERT(!local());
  FERMATA_ASSERT(!link_closed(from));
  // What the other side sends back may have waited for what is sent from here.
  for (const Side sender : {from, other(from)}) {
    if (link_closed(sender) || gave_up(sender)) continue;
    to(other(sender)).resume([&](std::size_t bytes) {
      const Instant arrival = links_[sender]->carried(when, bytes, {"waiting message"});
      if (RunLog* const told = run_log(sender)) {
        told->message_log().resumed(key_, sender == Client, arrival);
      }
      return arrival;
    });
    tell(other(sender));
  }
  if (ends_[from].endpoint == nullptr) return;
  if (PeerCheck* const check = peer_check(from)) check->path_restored();
  ends_[from].endpoint->expect_room(ends_[from].machine->now());
}

void Connection::path_worsened() {
  FERMATA_ASSERT(!local());
  for (const Side side : {Client, Server}) {
    if (PeerCheck* const check = peer_check(side)) check->path_worsened();
  }
}

PeerCheck* Connection::peer_check(Side side) const noexcept {
  Endpoint* const here = ends_[side].endpoint;
  return here != nullptr ? here->peer_check() : nullptr;
}

FERMATA_COLD MessageLog::Id Connection::note_in(RunLog& told, Side from, Message::Kind kind,
                                                Message::Fate fate, Instant arrival,
                                                std::span<const std::byte> bytes) const {
  FERMATA_ASSERT(&told == run_log(from));
  return told.sent(ends_[from].machine->name(), message_from(from, kind, fate, arrival),
                   bytes.data(), bytes.size());
}

Message Connection::message_from(Side from, Message::Kind kind, Message::Fate fate,
                                 Instant arrival) const {
  const End& here = ends_[from];
  const End& there = ends_[other(from)];
  Message message;
  message.kind = kind;
  message.fate = fate;
  message.from = here.machine->host().name();
  message.to = there.machine->host().name();
  message.source = here.address;
  message.destination = there.address;
  message.sent = here.machine->earliest_visible_time();
  message.arrival = arrival;
  message.connection = key_;
  message.from_client = from == Client;
  return message;
}

Arrival Connection::accepted() const {
  RunLog* const told = run_log(Server);
  if (told == nullptr) return {nullptr, 0};
  return {told, told->message_log().connect_of(key_)};
}

Arrival Connection::ended(Side seen_by) const {
  RunLog* const told = run_log(seen_by);
  if (told == nullptr) return {nullptr, 0};
  return {told, told->message_log().last(key_, seen_by == Server)};
}

void Connection::tell(Side side) {
  if (ends_[side].endpoint != nullptr) ends_[side].endpoint->expect_arrival();
}

}  // namespace fermata::sim::detail
