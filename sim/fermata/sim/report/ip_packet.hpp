// SPDX-License-Identifier: Apache-2.0
#pragma once

// IP packets as they are on a line: RFC 791 and RFC 8200, TCP (RFC 9293) and UDP (RFC 768).

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "fermata/reactor/address.hpp"

namespace fermata::sim {

/// REQUIRES, where packets are made of them: both of one version, once unmapped.
struct PacketEnds {
  Address source;
  Address destination;
};

struct TcpSegment {
  enum Flags : std::uint8_t { Finish = 1, Synchronize = 2, Reset = 4, Push = 8, Ack = 16 };

  PacketEnds ends;
  Flags flags = Ack;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledged = 0;
};

/// With right lengths and checksums. `missing` is how many bytes more it carries than are known;
/// then its checksum, which nobody can compute, is zero.
[[nodiscard]] std::string tcp_packet(const TcpSegment& segment, std::span<const std::byte> bytes,
                                     std::size_t missing = 0);
[[nodiscard]] std::string udp_packet(const PacketEnds& ends, std::span<const std::byte> bytes,
                                     std::size_t missing = 0);

}  // namespace fermata::sim
