// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/ip_packet.hpp"

#include "fermata/base/assert.hpp"

namespace fermata::sim {
namespace {

constexpr std::uint8_t kTcp = 6;
constexpr std::uint8_t kUdp = 17;
constexpr std::size_t kIpHeader = 20;
constexpr std::size_t kIpHeaderV6 = 40;
constexpr std::size_t kTcpHeader = 20;
constexpr std::size_t kUdpHeader = 8;
constexpr std::uint16_t kWindow = 65'535;

// Numbers on the line are big-endian.
void append_byte(std::string& text, std::uint32_t number) {
  text += static_cast<char>(static_cast<unsigned char>(number & 0xff));
}
void append_short(std::string& text, std::uint32_t number) {
  append_byte(text, number >> 8);
  append_byte(text, number);
}
void append_long(std::string& text, std::uint32_t number) {
  append_short(text, number >> 16);
  append_short(text, number);
}

/// The ones' complement sum that all of these protocols use, of an even number of bytes or the end.
std::uint32_t sum_of(const std::string& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint32_t byte = static_cast<unsigned char>(bytes[i]);
    sum += i % 2 == 0 ? byte << 8 : byte;
    sum = (sum & 0xffff) + (sum >> 16);
  }
  FERMATA_ASSERT(sum <= 0xffff);
  return sum;
}

void put_checksum(std::string& packet, std::size_t at, std::uint32_t sum) {
  FERMATA_ASSERT(at + 1 < packet.size());
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  const std::uint32_t checksum = ~sum & 0xffff;
  packet[at] = static_cast<char>(checksum >> 8);
  packet[at + 1] = static_cast<char>(checksum & 0xff);
}

bool is_v4(const PacketEnds& ends) {
  const IpVersion version = ends.source.unmapped().version();
  FERMATA_ASSERT(version == ends.destination.unmapped().version());
  return version == IpVersion::V4;
}

void append_addresses(std::string& text, const PacketEnds& ends) {
  const std::size_t begin = is_v4(ends) ? 12 : 0;  // Where the number is in a mapped address.
  for (const Address* each : {&ends.source, &ends.destination}) {
    for (std::size_t i = begin; i < each->bytes().size(); ++i) append_byte(text, each->bytes()[i]);
  }
}

std::string ip_header_v6(const PacketEnds& ends, std::uint8_t protocol, std::size_t size) {
  std::string header;
  append_long(header, 6u << 28);
  append_short(header, static_cast<std::uint32_t>(size));
  append_byte(header, protocol);
  append_byte(header, 64);
  append_addresses(header, ends);
  FERMATA_ASSERT(header.size() == kIpHeaderV6);
  return header;
}

std::string ip_header(const PacketEnds& ends, std::uint8_t protocol, std::size_t size) {
  if (!is_v4(ends)) return ip_header_v6(ends, protocol, size);
  std::string header;
  append_byte(header, 0x45);  // Version 4, five words.
  append_byte(header, 0);
  append_short(header, static_cast<std::uint32_t>(kIpHeader + size));
  append_short(header, 0);
  append_short(header, 0x4000);  // Not to be cut into fragments.
  append_byte(header, 64);
  append_byte(header, protocol);
  append_short(header, 0);
  append_addresses(header, ends);
  FERMATA_ASSERT(header.size() == kIpHeader);
  put_checksum(header, 10, sum_of(header));
  return header;
}

/// `body` has its own header and zero for its checksum, which is `at` there.
std::string packet_of(const PacketEnds& ends, std::uint8_t protocol, std::string body,
                      std::size_t at, std::size_t missing) {
  FERMATA_ASSERT(protocol == kTcp || protocol == kUdp);
  FERMATA_ASSERT(at < body.size());
  if (missing == 0) {
    std::string pseudo;
    append_addresses(pseudo, ends);
    append_short(pseudo, protocol);
    append_short(pseudo, static_cast<std::uint32_t>(body.size()));
    put_checksum(body, at, sum_of(pseudo) + sum_of(body));
    const bool none = protocol == kUdp && body[at] == 0 && body[at + 1] == 0;
    if (none) body[at] = body[at + 1] = static_cast<char>(0xff);  // Zero would say: there is none.
  }
  return ip_header(ends, protocol, body.size() + missing) + body;
}

void append(std::string& text, std::span<const std::byte> bytes) {
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::string tcp_packet(const TcpSegment& segment, std::span<const std::byte> bytes,
                       std::size_t missing) {
  std::string body;
  append_short(body, segment.ends.source.port());
  append_short(body, segment.ends.destination.port());
  append_long(body, segment.sequence);
  append_long(body, segment.acknowledged);
  append_byte(body, kTcpHeader / 4 << 4);
  append_byte(body, segment.flags);
  append_short(body, (segment.flags & TcpSegment::Reset) != 0 ? 0 : kWindow);
  append_short(body, 0);
  append_short(body, 0);
  FERMATA_ASSERT(body.size() == kTcpHeader);
  append(body, bytes);
  return packet_of(segment.ends, kTcp, std::move(body), 16, missing);
}

std::string udp_packet(const PacketEnds& ends, std::span<const std::byte> bytes,
                       std::size_t missing) {
  std::string body;
  append_short(body, ends.source.port());
  append_short(body, ends.destination.port());
  append_short(body, static_cast<std::uint32_t>(kUdpHeader + bytes.size() + missing));
  append_short(body, 0);
  FERMATA_ASSERT(body.size() == kUdpHeader);
  append(body, bytes);
  return packet_of(ends, kUdp, std::move(body), 6, missing);
}

}  // namespace fermata::sim
