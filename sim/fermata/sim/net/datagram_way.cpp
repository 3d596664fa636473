// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagram_way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/base/amount.hpp"
#include "fermata/sim/machine/fault_plan.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/net/latency.hpp"
#include "fermata/sim/net/link_state.hpp"
#include "fermata/sim/record/run_log.hpp"

namespace fermata::sim::detail {

DatagramWay::DatagramWay(LinkState& link, PacketSwitch& destination)
    : link_(link),
      from_(link.from()),
      to_(link.to()),
      destination_(destination),
      key_(key_of(link.key(), "datagrams")),
      arrival_(*this) {}

std::string DatagramWay::text(const Waiting& sent) const {
  FERMATA_ASSERT(sent.number > 0);
  FERMATA_ASSERT(sent.number <= sent_);
  return link_.text(Parcel{"datagram", sent.number});
}

Duration DatagramWay::extra_delay(const Waiting& sent, Fault fault, const char* does) {
  const auto tell = [&](Duration delay) {
    return fmt::format("{} {} {}", text(sent), does, amount(delay));
  };
  return detail::extra_delay(from_, fault, key_of(key_, to_string(fault)), tell);
}

MessageLog::Id note_datagram(const Machine& from, const Machine& to, const Packet& packet,
                             Message::Fate fate) {
  RunLog* const told = from.run_log();
  if (told == nullptr || packet.refuses) return 0;
  Message message;
  message.fate = fate;
  message.from = from.host().name();
  message.to = to.host().name();
  message.source = packet.source;
  message.destination = packet.destination;
  message.sent = from.earliest_visible_time();
  return told->sent(from.name(), std::move(message), packet.bytes.data(), packet.bytes.size());
}

void DatagramWay::send(const PacketRef& packet) {
  const Waiting sent{packet, note_datagram(from_, to_, *packet, Message::Fate::UnderWay), ++sent_};
  const std::uint64_t loss_key = key_of(key_, to_string(Fault::DatagramLoss));
  const auto tell = [&](const Decision&) { return text(sent) + " is lost"; };
  if (from_.faults().strikes(Fault::DatagramLoss, backend::RandomStream::Network, loss_key, tell)) {
    return note_loss(sent.noted);
  }
  const LinkState::Passage passage =
      link_.passage(packet->bytes.size(), Parcel{"datagram", sent.number});
  if (passage.lost) return note_loss(sent.noted);
  FERMATA_ASSERT(passage.arrival >= from_.now());
  if (passage.arrival != Instant::never()) {
    send_on(sent, passage.arrival);
  } else {
    waiting_.push_back(sent);
  }
}

void DatagramWay::reopened(Instant when) {
  FERMATA_ASSERT(!link_.is_closed());
  for (const Waiting& sent : std::exchange(waiting_, {})) {
    send_on(sent, link_.carried(when, sent.packet->bytes.size(), {"datagram", sent.number}));
  }
}

void DatagramWay::send_on(const Waiting& sent, Instant arrival) {
  FERMATA_ASSERT(arrival != Instant::never());
  const Duration delay = extra_delay(sent, Fault::Delay, "is delayed by");
  last_arrival_ = std::max(arrival + delay, last_arrival_);
  FERMATA_ASSERT(last_arrival_ >= arrival);
  const Duration held_up =
      extra_delay(sent, Fault::DatagramReorder, "can be overtaken: it is held up by");
  put_under_way(sent.packet, sent.noted, last_arrival_ + held_up);
  const Duration again =
      extra_delay(sent, Fault::DatagramDuplicate, "arrives once more, after another");
  if (again > Duration::zero()) {
    const MessageLog::Id noted = note_datagram(from_, to_, *sent.packet, Message::Fate::Duplicate);
    put_under_way(sent.packet, noted, last_arrival_ + held_up + again);
  }
  expect_next();
}

void DatagramWay::put_under_way(const PacketRef& packet, MessageLog::Id noted, Instant arrival) {
  FERMATA_ASSERT(arrival >= last_arrival_);  // The fault holds up; it never hurries.
  const auto later =
      std::upper_bound(under_way_.begin(), under_way_.end(), arrival,
                       [](Instant when, const UnderWay& other) { return when < other.arrival; });
  under_way_.insert(later, {arrival, packet, noted});
}

// A duplicate stays one.
void DatagramWay::note_arrival(MessageLog::Id noted, bool taken, Instant now) const {
  FERMATA_ASSERT(noted != 0);
  if (!taken) return note_loss(noted);
  if (RunLog* const told = to_.run_log()) told->message_log().arrived(noted, now);
}

void DatagramWay::note_loss(MessageLog::Id noted) const {
  RunLog* const told = noted != 0 ? to_.run_log() : nullptr;
  if (told != nullptr) told->message_log().became(noted, Message::Fate::Lost, Instant::never());
}

// What arrives may be answered, on this very way when it leads a machine to itself; the answer may
// have arrived as well.
void DatagramWay::expect_next() {
  const bool is_expected = !under_way_.empty() && arrival_.scheduled_by(under_way_.front().arrival);
  if (is_expected) return;
  arrival_.cancel();
  if (under_way_.empty()) return;
  to_.agenda().schedule(arrival_, under_way_.front().arrival, key_);
}

void DatagramWay::arrive() {
  FERMATA_ASSERT(!under_way_.empty());
  // A machine that ends lets everything happen at once: its clock stands still then.
  const Instant now = std::max(to_.now(), under_way_.front().arrival);
  while (!under_way_.empty() && under_way_.front().arrival <= now) {
    const UnderWay next = std::move(under_way_.front());
    under_way_.pop_front();
    const Arrival arrival(to_.run_log(), next.noted);
    const bool taken = destination_.arrived(to_, next.packet);
    if (next.noted != 0) note_arrival(next.noted, taken, now);
  }
  expect_next();
}

}  // namespace fermata::sim::detail
