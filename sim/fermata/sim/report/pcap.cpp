// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/pcap.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/ip_packet.hpp"

namespace fermata::sim {
namespace {

constexpr std::uint32_t kMagic = 0xa1b23c4d;  // With nanoseconds.
constexpr std::uint32_t kMostCaptured = 65'535;
constexpr std::uint32_t kRawIp = 101;

using Flags = TcpSegment::Flags;

/// What one side of a connection has sent, and what of it has arrived.
struct Way {
  std::uint32_t first = 0;     // The number of the connect itself.
  std::uint32_t sent = 0;      // How much after that: bytes, and one for the end.
  std::uint32_t received = 0;  // The same, at the other side.
};

struct Connection {
  Way from_client;
  Way from_server;
  Way& way(bool of_client) { return of_client ? from_client : from_server; }
};

/// Something that becomes packets, or that later ones acknowledge.
struct Occasion {
  enum class Kind : std::uint8_t { Arrives, Answers, Confirms, IsSent };
  Instant when;
  Kind kind;
  const Message* message;
};

std::vector<Occasion> occasions_of(const RunLog& run_log) {
  using Kind = Occasion::Kind;
  std::vector<Occasion> all;
  for (const Message& message : run_log.message_log().messages()) {
    all.push_back({message.sent, Kind::IsSent, &message});
    if (message.arrival == Instant::never()) continue;
    const bool is_connect = message.kind == Message::Kind::Connect;
    all.push_back({message.arrival, is_connect ? Kind::Answers : Kind::Arrives, &message});
    const bool confirmed = is_connect && message.fate == Message::Fate::Delivered;
    if (confirmed && message.answered <= run_log.end()) {
      all.push_back({message.answered, Kind::Confirms, &message});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Occasion& a, const Occasion& b) {
    return a.when != b.when ? a.when < b.when : a.kind < b.kind;
  });
  return all;
}

class Capture {
 public:
  Capture() {
    append(kMagic);
    append_short(2);  // The format's version.
    append_short(4);
    append(0);
    append(0);
    append(kMostCaptured);
    append(kRawIp);
  }

  void add(const Occasion& occasion) {
    FERMATA_ASSERT(occasion.message != nullptr);
    const Message& message = *occasion.message;
    if (message.kind == Message::Kind::Datagram) {
      if (occasion.kind == Occasion::Kind::IsSent) add_datagram(message);
      return;
    }
    switch (occasion.kind) {
      case Occasion::Kind::Arrives:
        return note_arrival(message);
      case Occasion::Kind::Answers:
        return add_answer(message);
      case Occasion::Kind::Confirms:
        return add(occasion.when, segment(message, true, Flags::Ack, 1), {}, 0);
      case Occasion::Kind::IsSent:
        return add_segments(message);
    }
  }

  [[nodiscard]] std::string take() { return std::move(file_); }

 private:
  void append_short(std::uint16_t number) {
    for (int i = 0; i < 2; ++i) file_ += static_cast<char>(number >> (8 * i));
  }
  void append(std::uint32_t number) {
    for (int i = 0; i < 4; ++i) file_ += static_cast<char>(number >> (8 * i));
  }

  void add_packet(Instant when, const std::string& packet, std::size_t missing) {
    FERMATA_ASSERT(when.nanoseconds >= 0);
    FERMATA_ASSERT(!packet.empty());
    constexpr std::int64_t kSecond = 1'000'000'000;
    append(static_cast<std::uint32_t>(when.nanoseconds / kSecond));
    append(static_cast<std::uint32_t>(when.nanoseconds % kSecond));
    append(static_cast<std::uint32_t>(packet.size()));
    append(static_cast<std::uint32_t>(packet.size() + missing));
    file_ += packet;
  }

  void add_datagram(const Message& message) {
    FERMATA_ASSERT(message.bytes.size() <= message.size);
    const std::size_t missing = message.size - message.bytes.size();
    add_packet(message.sent,
               udp_packet({message.source, message.destination}, message.bytes, missing), missing);
  }

  void add(Instant when, const TcpSegment& segment, std::span<const std::byte> bytes,
           std::size_t missing) {
    add_packet(when, tcp_packet(segment, bytes, missing), missing);
  }

  Connection& connection(const Message& message) {
    FERMATA_ASSERT(message.connection != 0);
    const auto [found, is_new] = connections_.try_emplace(message.connection);
    if (is_new) {
      found->second.from_client.first = static_cast<std::uint32_t>(message.connection);
      found->second.from_server.first = static_cast<std::uint32_t>(message.connection >> 32);
    }
    return found->second;
  }

  /// One from the side that has sent `message`, or from the other one; `offset` is counted from
  /// that side's first number.
  TcpSegment segment(const Message& message, bool from_sender, Flags flags, std::uint32_t offset) {
    FERMATA_ASSERT(message.kind != Message::Kind::Datagram);
    const bool of_client = message.from_client == from_sender;
    Connection& both = connection(message);
    const Way& own = both.way(of_client);
    const Way& other = both.way(!of_client);
    TcpSegment segment;
    segment.ends = from_sender ? PacketEnds{message.source, message.destination}
                               : PacketEnds{message.destination, message.source};
    segment.flags = flags;
    segment.sequence = own.first + offset;
    if ((flags & Flags::Ack) != 0) segment.acknowledged = other.first + 1 + other.received;
    return segment;
  }

  void add_answer(const Message& message) {
    FERMATA_ASSERT(message.kind == Message::Kind::Connect);
    const bool refused = message.fate == Message::Fate::Refused;
    const int flags = Flags::Ack | (refused ? Flags::Reset : Flags::Synchronize);
    TcpSegment answer = segment(message, false, static_cast<Flags>(flags), 0);
    if (refused) answer.sequence = 0;
    add(message.arrival, answer, {}, 0);
  }

  void note_arrival(const Message& message) {
    FERMATA_ASSERT(message.kind != Message::Kind::Connect);
    const bool taken =
        message.fate == Message::Fate::Delivered && message.kind != Message::Kind::Reset;
    if (!taken) return;
    Way& way = connection(message).way(message.from_client);
    const std::uint64_t end =
        message.offset + message.size + (message.kind == Message::Kind::End ? 1 : 0);
    way.received = std::max(way.received, static_cast<std::uint32_t>(end));
  }

  void add_segments(const Message& message) {
    Way& way = connection(message).way(message.from_client);
    const auto begin = static_cast<std::uint32_t>(message.offset) + 1;
    switch (message.kind) {
      case Message::Kind::Connect:
        return add(message.sent, segment(message, true, Flags::Synchronize, 0), {}, 0);
      case Message::Kind::End:
        way.sent = begin;
        return add_flag(message, Flags::Finish, begin);
      case Message::Kind::Reset:
        return add_flag(message, Flags::Reset, std::max(begin, way.sent + 1));
      default:
        add_data(message, begin);
    }
  }

  void add_flag(const Message& message, int flag, std::uint32_t offset) {
    const auto flags = static_cast<Flags>(flag | Flags::Ack);
    add(message.sent, segment(message, true, flags, offset), {}, 0);
  }

  void add_data(const Message& message, std::uint32_t begin) {
    FERMATA_ASSERT(message.kind == Message::Kind::Data);
    const std::span<const std::byte> kept(message.bytes);
    constexpr auto kFlags = static_cast<Flags>(Flags::Ack | Flags::Push);
    for (std::size_t at = 0; at < message.size; at += kMostInPacket) {
      const std::size_t size = std::min<std::size_t>(kMostInPacket, message.size - at);
      const auto bytes = kept.subspan(std::min(at, kept.size()),
                                      std::min(size, kept.size() - std::min(at, kept.size())));
      FERMATA_ASSERT(bytes.size() <= size);
      const auto offset = begin + static_cast<std::uint32_t>(at);
      add(message.sent, segment(message, true, kFlags, offset), bytes, size - bytes.size());
    }
  }

  std::string file_;
  std::map<std::uint64_t, Connection> connections_;
};

}  // namespace

std::string pcap(const RunReport& report) {
  FERMATA_REQUIRE(!report.runs.empty(), "a report shows a run");
  Capture capture;
  for (const Occasion& occasion : occasions_of(*report.runs.front().run_log)) {
    capture.add(occasion);
  }
  return capture.take();
}

}  // namespace fermata::sim
