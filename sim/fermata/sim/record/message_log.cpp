// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/record/message_log.hpp"

#include <algorithm>

#include "fermata/base/assert.hpp"

namespace fermata::sim {

// What an end does that is closed before anybody has taken its connect is of no effect.
MessageLog::Id MessageLog::sent(Message message, const void* bytes, std::size_t size) {
  FERMATA_ASSERT(size == 0 || bytes != nullptr);
  const Way way{message.connection, message.from_client};
  const bool ends = message.kind == Message::Kind::End || message.kind == Message::Kind::Reset;
  if (ends && !sent_bytes_.contains(way)) return 0;
  if (messages_.size() == kMostMessages) {
    FERMATA_ASSERT(messages_.front().bytes.size() <= kept_bytes_);
    kept_bytes_ -= messages_.front().bytes.size();
    messages_.pop_front();
    ++forgotten_;
  }
  message.size = size;
  if (const auto before = sent_bytes_.find(way); before != sent_bytes_.end()) {
    message.offset = before->second;
    before->second += size;
  }
  const std::size_t kept = std::min({size, kMostBytes, kMostInAll - kept_bytes_});
  const auto* const first = static_cast<const std::byte*>(bytes);
  if (kept > 0) message.bytes.assign(first, first + kept);
  kept_bytes_ += kept;
  FERMATA_ASSERT(kept_bytes_ <= kMostInAll);
  const bool waits = message.fate == Message::Fate::UnderWay && message.arrival == Instant::never();
  const bool is_on_connection = message.connection != 0 && message.kind != Message::Kind::Connect;
  messages_.push_back(std::move(message));
  const Id id = forgotten_ + messages_.size();
  if (waits && is_on_connection) waiting_[way].push_back(id);
  return id;
}

const Message* MessageLog::find(Id id) const noexcept {
  FERMATA_ASSERT(id <= forgotten_ + messages_.size());
  return id <= forgotten_ ? nullptr : &messages_[id - forgotten_ - 1];
}

void MessageLog::became(Id id, Message::Fate fate, Instant arrival) {
  Message* const message = find(id);
  if (message == nullptr) return;
  message->fate = fate;
  message->arrival = arrival;
  if (message->kind != Message::Kind::Connect || fate != Message::Fate::Delivered) return;
  for (const bool from_client : {true, false}) {
    sent_bytes_.try_emplace(Way{message->connection, from_client});
  }
}

void MessageLog::arrived(Id id, Instant when) {
  const Message* const message = find(id);
  if (message == nullptr) return;
  const bool second = message->fate == Message::Fate::Duplicate;
  became(id, second ? Message::Fate::Duplicate : Message::Fate::Delivered, when);
}

void MessageLog::answered(Id id, Instant when) {
  Message* const message = find(id);
  if (message == nullptr) return;
  FERMATA_ASSERT(message->kind == Message::Kind::Connect);
  message->answered = when;
}

void MessageLog::left(Id id, Instant when) {
  if (Message* const message = find(id)) message->sent = when;
}

void MessageLog::resumed(std::uint64_t connection, bool from_client, Instant arrival) {
  const auto found = waiting_.find(Way{connection, from_client});
  if (found == waiting_.end() || found->second.empty()) return;
  became(found->second.front(), Message::Fate::UnderWay, arrival);
  found->second.pop_front();
}

void MessageLog::given_up(std::uint64_t connection, bool from_client) {
  const auto found = waiting_.find(Way{connection, from_client});
  if (found == waiting_.end()) return;
  for (const Id id : found->second) lose(id);
  waiting_.erase(found);
}

void MessageLog::cut_off(std::uint64_t connection, bool from_client, Instant now) {
  for (Message& each : messages_) {
    const bool is_there = each.connection == connection && each.from_client == from_client;
    if (!is_there || each.fate != Message::Fate::UnderWay || each.arrival <= now) continue;
    each.fate = Message::Fate::Lost;
    each.arrival = Instant::never();
  }
  waiting_.erase(Way{connection, from_client});
}

MessageLog::Id MessageLog::taken(std::uint64_t connection, bool from_client, std::size_t size) {
  FERMATA_ASSERT(size > 0);
  const std::uint64_t end = taken_bytes_[Way{connection, from_client}] += size;
  return find_last(connection, from_client, [&](const Message& each) {
    return each.offset < end && end <= each.offset + each.size;
  });
}

MessageLog::Id MessageLog::connect_of(std::uint64_t connection) const {
  return find_last(connection, true,
                   [](const Message& each) { return each.kind == Message::Kind::Connect; });
}

MessageLog::Id MessageLog::last(std::uint64_t connection, bool from_client) const {
  return find_last(connection, from_client, [](const Message&) { return true; });
}

template <class Predicate>
MessageLog::Id MessageLog::find_last(std::uint64_t connection, bool from_client,
                                     const Predicate& is_it) const {
  const auto found = std::find_if(messages_.rbegin(), messages_.rend(), [&](const Message& each) {
    return each.connection == connection && each.from_client == from_client && is_it(each);
  });
  return found == messages_.rend()
             ? 0
             : forgotten_ + static_cast<std::size_t>(messages_.rend() - found);
}

void MessageLog::finish(Instant end) {
  for (Message& each : messages_) {
    if (each.arrival > end) {
      each.arrival = Instant::never();
      const bool may_arrive =
          each.fate == Message::Fate::Duplicate || each.fate == Message::Fate::Refused;
      if (may_arrive) each.fate = Message::Fate::UnderWay;
    } else if (each.fate == Message::Fate::UnderWay) {
      each.fate = Message::Fate::Delivered;
    }
  }
}

std::string_view to_string(Message::Kind kind) noexcept {
  switch (kind) {
    case Message::Kind::Connect:
      return "connect";
    case Message::Kind::Data:
      return "data";
    case Message::Kind::End:
      return "end";
    case Message::Kind::Reset:
      return "reset";
    case Message::Kind::Datagram:
      return "datagram";
  }
  return {};
}

std::string_view to_string(Message::Fate fate) noexcept {
  switch (fate) {
    case Message::Fate::UnderWay:
      return "in flight";
    case Message::Fate::Delivered:
      return "delivered";
    case Message::Fate::Lost:
      return "lost";
    case Message::Fate::Refused:
      return "refused";
    case Message::Fate::Duplicate:
      return "duplicate";
  }
  return {};
}

}  // namespace fermata::sim
