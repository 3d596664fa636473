// SPDX-License-Identifier: Apache-2.0
#pragma once

// Peers that connect, send a few pieces, and read what comes back as fast as they like.

#include <rapidcheck.h>

#include <cstdint>
#include <iosfwd>
#include <vector>

namespace fermata::properties {

/// A client of the echo server. Its times are milliseconds after the script begins.
struct EchoPeer {
  int begin = 0;
  std::vector<std::uint8_t> pieces;  // Sizes; one each millisecond.
  std::uint8_t room = 0;             // What it takes in a millisecond, less one.
};
std::ostream& operator<<(std::ostream& out, const EchoPeer& peer);

struct EchoScript {
  std::vector<EchoPeer> peers;
  std::vector<std::uint8_t> answers;
};
std::ostream& operator<<(std::ostream& out, const EchoScript& script);

[[nodiscard]] rc::Gen<EchoScript> echo_scripts();

}  // namespace fermata::properties
