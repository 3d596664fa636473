// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/pcap.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/report/ip_packet.hpp"
#include "tests/support/watched_run.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::watched_run;

/// Numbers in what a capture holds.
class Bytes {
 public:
  explicit Bytes(std::string text) : text_(std::move(text)) {}

  [[nodiscard]] std::uint32_t byte(std::size_t at) const {
    return static_cast<unsigned char>(text_.at(at));
  }
  [[nodiscard]] std::uint32_t big(std::size_t at, std::size_t size) const {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < size; ++i) number = number << 8 | byte(at + i);
    return number;
  }
  [[nodiscard]] std::uint32_t little(std::size_t at) const {
    return byte(at) | byte(at + 1) << 8 | byte(at + 2) << 16 | byte(at + 3) << 24;
  }
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] Bytes part(std::size_t at, std::size_t size) const {
    return Bytes(text_.substr(at, size));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Packet {
  std::int64_t when = 0;
  std::uint32_t missing = 0;
  Bytes bytes{""};

  [[nodiscard]] bool is_tcp() const { return bytes.byte(9) == 6; }
  [[nodiscard]] std::uint32_t source() const { return bytes.big(20, 2); }
  [[nodiscard]] std::uint32_t destination() const { return bytes.big(22, 2); }
  [[nodiscard]] std::uint32_t sequence() const { return bytes.big(24, 4); }
  [[nodiscard]] std::uint32_t acknowledged() const { return bytes.big(28, 4); }
  [[nodiscard]] std::string flags() const {
    std::string text;
    for (int i = 0; i < 5; ++i) {
      if ((bytes.byte(33) >> i & 1) != 0) text += "FSRPA"[i];
    }
    return text;
  }
  [[nodiscard]] std::string data() const { return bytes.text().substr(is_tcp() ? 40 : 28); }
};

/// What RFC 1071 says is 0xffff over anything with a right checksum.
std::uint32_t sum(const Bytes& bytes, std::uint32_t start = 0) {
  std::uint32_t total = start;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    total += i % 2 == 0 ? bytes.byte(i) << 8 : bytes.byte(i);
    total = (total & 0xffff) + (total >> 16);
  }
  return total;
}

void expect_valid(const Packet& packet) {
  const Bytes& bytes = packet.bytes;
  ASSERT_EQ(bytes.byte(0), 0x45u);
  EXPECT_EQ(bytes.big(2, 2), bytes.size() + packet.missing);
  EXPECT_EQ(sum(bytes.part(0, 20)), 0xffffu);
  if (packet.missing != 0) return;
  const Bytes body = bytes.part(20, bytes.size());
  const std::uint32_t pseudo =
      sum(bytes.part(12, 8), bytes.byte(9) + static_cast<std::uint32_t>(body.size()));
  EXPECT_EQ(sum(body, pseudo), 0xffffu);
}

std::vector<Packet> packets_of(const std::string& file) {
  const Bytes bytes(file);
  EXPECT_EQ(bytes.little(0), 0xa1b23c4du);
  EXPECT_EQ(bytes.little(4), 0x00040002u);
  EXPECT_EQ(bytes.little(20), 101u);
  std::vector<Packet> all;
  for (std::size_t at = 24; at < bytes.size();) {
    const std::uint32_t size = bytes.little(at + 8);
    all.push_back({std::int64_t{bytes.little(at)} * 1'000'000'000 + bytes.little(at + 4),
                   bytes.little(at + 12) - size, bytes.part(at + 16, size)});
    expect_valid(all.back());
    at += 16 + size;
  }
  return all;
}

std::vector<Packet> capture(const test::Body& body,
                            const WorldOptions& options = {.faults = FaultSet::none()}) {
  const auto run = watched_run(body, options);
  EXPECT_FALSE(run.result.failure) << run.result.failure->message;
  return packets_of(pcap(run.report));
}

/// In each direction every packet goes on where the one before has ended.
void expect_without_gaps(const std::vector<Packet>& packets) {
  std::map<std::uint32_t, std::uint32_t> next;  // By port of the sender.
  for (const Packet& each : packets) {
    const auto known = next.find(each.source());
    if (known != next.end()) {
      EXPECT_EQ(each.sequence(), known->second) << each.flags();
    }
    const std::string flags = each.flags();
    const bool counts = flags.find_first_of("SF") != std::string::npos;
    next[each.source()] =
        each.sequence() + static_cast<std::uint32_t>(each.data().size()) + (counts ? 1 : 0);
  }
}

TEST(Pcap, ShowsAConnectionAsTcpDoes) {
  const auto packets = capture(test::greet);
  std::string flags;
  std::int64_t before = 0;
  for (const Packet& each : packets) {
    EXPECT_TRUE(each.is_tcp());
    EXPECT_GE(each.when, before);
    before = each.when;
    flags += each.flags() + ' ';
  }
  EXPECT_EQ(flags, "S SA A PA PA FA FA ");
  EXPECT_EQ(packets[0].when, 1'000'000);
  EXPECT_EQ(packets[0].destination(), 80u);
  EXPECT_EQ(packets[1].acknowledged(), packets[0].sequence() + 1);
  EXPECT_EQ(packets[2].acknowledged(), packets[1].sequence() + 1);
  EXPECT_EQ(packets[3].data(), "hello");
  EXPECT_EQ(packets[4].data(), "welcome");
  EXPECT_EQ(packets[4].acknowledged(), packets[3].sequence() + 5);
  EXPECT_EQ(packets[6].acknowledged(), packets[5].sequence() + 1);
  expect_without_gaps(packets);
}

TEST(Pcap, CutsWhatIsLongIntoPackets) {
  const auto packets = capture([](World& world) {
    world.node("server", test::serve);
    delay(1ms);
    TcpStream stream = TcpStream::connect(world.node("server").address(80));
    const std::string text(200'001, 'x');
    stream.write(bytes_of(text));
    std::array<std::byte, 64> buffer;
    stream.read(buffer);
    stream.close();
    world.run();
  });
  std::size_t sent = 0;
  for (const Packet& each : packets) {
    EXPECT_LE(each.data().size(), kMostInPacket);
    if (each.destination() == 80) sent += each.data().size();
  }
  EXPECT_EQ(sent, 200'001u);
  expect_without_gaps(packets);
}

TEST(Pcap, AConnectThatIsRefusedIsAnsweredWithAReset) {
  const auto packets = capture(test::be_refused);
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].flags(), "S");
  EXPECT_EQ(packets[1].flags(), "RA");
  EXPECT_EQ(packets[1].acknowledged(), packets[0].sequence() + 1);
}

TEST(Pcap, AConnectionThatIsResetEndsSo) {
  const auto packets = capture([](World& world) {
    world.node("server", [] {
      TcpListener listener = TcpListener::bind({"0.0.0.0", 80});
      auto peer = listener.accept();
      delay(10ms);
    });
    delay(1ms);
    TcpStream stream = TcpStream::connect(world.node("server").address(80));
    stream.set_reset_on_close(true);
    stream.close();
    world.run();
  });
  bool reset = false;
  for (const Packet& each : packets) reset = reset || each.flags() == "RA";
  EXPECT_TRUE(reset);
  expect_without_gaps(packets);
}

TEST(Pcap, HasDatagramsAlsoThoseThatAreLost) {
  const auto packets = capture(test::scatter);
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_FALSE(packets[0].is_tcp());
  EXPECT_EQ(packets[0].data(), "odd");
  EXPECT_EQ(packets[0].bytes.big(24, 2), 11u);
  EXPECT_EQ(packets[0].source(), 1234u);
  EXPECT_EQ(packets[1].data(), "nobody");
  EXPECT_EQ(packets[2].data(), "nowhere");
}

TEST(Pcap, NothingWasSent) {
  EXPECT_TRUE(capture([](World&) { suspend(); }).empty());
}

TEST(IpPacket, LeavesOutWhatIsNotKnown) {
  const PacketEnds ends{Address("10.0.0.1", 1), Address("10.0.0.2", 2)};
  const std::string packet = tcp_packet({ends, TcpSegment::Ack, 5, 6}, bytes_of("ab"), 10);
  expect_valid({0, 10, Bytes(packet)});
  EXPECT_EQ(Bytes(packet).big(2, 2), 52u);
  EXPECT_EQ(Bytes(packet).big(36, 2), 0u);
  expect_valid({0, 3, Bytes(udp_packet(ends, bytes_of("ab"), 3))});
}

TEST(IpPacket, HasAddressesOfVersionSix) {
  const PacketEnds ends{Address("fd00::1", 1), Address("fd00::2", 2)};
  const Bytes packet(udp_packet(ends, bytes_of("odd")));
  ASSERT_EQ(packet.size(), 40u + 8u + 3u);
  EXPECT_EQ(packet.big(0, 4), 0x60000000u);
  EXPECT_EQ(packet.big(4, 2), 11u);
  EXPECT_EQ(packet.byte(6), 17u);
  EXPECT_EQ(packet.big(8, 2), 0xfd00u);
  EXPECT_EQ(packet.big(22, 2), 1u);
  EXPECT_EQ(packet.big(38, 2), 2u);
  EXPECT_EQ(sum(packet.part(40, 11), sum(packet.part(8, 32), 17 + 11)), 0xffffu);
}

TEST(IpPacket, IsOfVersionFourWhereASocketOfVersionSixSeesItMapped) {
  const Address four("10.0.0.1", 1);
  const PacketEnds ends{four.mapped(), Address("10.0.0.2", 2)};
  expect_valid({0, 0, Bytes(udp_packet(ends, bytes_of("ab")))});
}

}  // namespace
}  // namespace fermata::sim
