// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the machines of a run sent each other, for Wireshark and tcpdump: a capture file in the
// classic format with nanoseconds (libpcap, "pcap-savefile"), of raw IP packets.
//
// Where     As if one could listen at every sender: each packet is there once, at the time of its
//           sending, also one that is lost. A datagram that the network doubles is there twice.
// Time      Virtual, from 1970-01-01 00:00 on, which is when the run begins.
// TCP       The simulator knows connections and not packets. Sequence numbers are counted from
//           numbers that the connection's key gives; a connect that is answered has its three
//           packets; every packet acknowledges what had arrived at its sender; pure
//           acknowledgements, and what TCP repeats by itself, are left out. What is more than
//           kMostInPacket bytes is several packets.
// Cut off   Bytes that were not kept (MessageLog::kMostInAll) are missing from their packets, whose
//           checksum is zero.

#include <cstddef>
#include <string>

#include "fermata/sim/report/run_report.hpp"

namespace fermata::sim {

inline constexpr std::size_t kMostInPacket = 32'768;

/// The packets of the first run of the report, in pcap format.
[[nodiscard]] std::string pcap(const RunReport& report);

}  // namespace fermata::sim
