// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the programs that talk over a network have in common.

#include <array>
#include <string>

#include "fermata/runtime.hpp"

namespace fermata::properties::zoo {

/// What comes before the next line feed; empty when the stream ends without one.
inline std::string read_line(TcpStream& stream, const WaitOptions& options = {},
                             const SourcePlace& place = SourcePlace::current()) {
  std::string line;
  std::array<std::byte, 1> letter;
  while (stream.read(letter, options, place) > 0) {
    if (static_cast<char>(letter[0]) == '\n') return line;
    line += static_cast<char>(letter[0]);
  }
  return {};
}

/// All up to the end of the stream.
inline std::string read_all(TcpStream& stream, const WaitOptions& options = {},
                            const SourcePlace& place = SourcePlace::current()) {
  std::string text;
  std::array<std::byte, 256> buffer;
  while (const std::size_t size = stream.read(buffer, options, place)) {
    text.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  return text;
}

/// Calls session(peer) in a coroutine "session" for everybody who connects; what breaks a
/// connection ends its session.
template <class Session>
void serve_each(std::uint16_t port, Session session) {
  auto listener = TcpListener::bind({"0.0.0.0", port});
  while (auto accepted = listener.accept()) {
    spawn("session", [session, peer = std::move(*accepted)]() mutable {
      try {
        session(peer);
      } catch (const Error&) {
      }
    });
  }
}

}  // namespace fermata::properties::zoo
