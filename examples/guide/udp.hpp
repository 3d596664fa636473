// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/udp.md, so that what the page shows is compiled and run.

#include <array>
#include <chrono>
#include <cstdio>
#include <fermata/io/udp.hpp>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace guide::udp {

using namespace std::chrono_literals;

/// Answers everybody with what they sent.
inline void echo(fermata::UdpSocket& socket) {
  std::array<std::byte, 1500> buffer;
  while (true) {
    const fermata::Datagram got = socket.receive(buffer);
    socket.send_to(std::span(buffer).first(got.size), got.peer);
  }
}

/// Asks until an answer comes: the question may be lost, and the answer.
inline std::string ask(fermata::UdpSocket& socket, std::string_view question,
                       const fermata::Address& server) {
  std::string answer(1500, '\0');
  while (true) {
    socket.send_to(question, server);
    try {
      const auto buffer = std::as_writable_bytes(std::span(answer));
      answer.resize(socket.receive(buffer, {.timeout = 200ms}).size);
      return answer;
    } catch (const fermata::Timeout&) {
    }
  }
}

inline void question_and_answer() {
  fermata::UdpSocket server = fermata::UdpSocket::bind({"127.0.0.1", 0});
  const fermata::Address address = server.local_address();
  auto echoing = fermata::spawn("echo", [server = std::move(server)]() mutable { echo(server); });
  fermata::UdpSocket client = fermata::UdpSocket::bind({"127.0.0.1", 0});
  std::printf("%s\n", ask(client, "is anybody there?", address).c_str());
  echoing.cancel();
}

inline void boundaries() {
  fermata::UdpSocket socket = fermata::UdpSocket::bind({"127.0.0.1", 0});
  socket.send_to("too long for it", socket.local_address());
  std::array<std::byte, 8> small;
  try {
    const fermata::Datagram got = socket.receive(small, {.timeout = 200ms});
    std::printf("%zu bytes from %s\n", got.size, got.peer.text().c_str());
    if (got.truncated) std::printf("and more that had no room\n");
  } catch (const fermata::Timeout&) {
    std::printf("it was lost\n");
  }
}

inline void without_waiting() {
  fermata::UdpSocket meter = fermata::UdpSocket::bind({"127.0.0.1", 0});
  const fermata::Address collector("127.0.0.1", 8125);
  if (!meter.try_send_to("requests:1|c", collector)) std::printf("one sample less\n");
}

inline void groups() {
  const fermata::DatagramOptions options{.reuse_address = true,
                                         .multicast_interface = fermata::Address("127.0.0.1", 0)};
  fermata::UdpSocket member = fermata::UdpSocket::bind({"0.0.0.0", 0}, options);
  member.join("239.255.7.7");
  fermata::UdpSocket speaker = fermata::UdpSocket::bind({"127.0.0.1", 0}, options);
  speaker.send_to("to whom it may concern", {"239.255.7.7", member.local_address().port()});
  std::array<std::byte, 100> buffer;
  try {
    std::printf("%zu bytes for the group\n", member.receive(buffer, {.timeout = 200ms}).size);
  } catch (const fermata::Timeout&) {
    std::printf("it was lost\n");
  }
  member.leave("239.255.7.7");
}

inline void tour() {
  question_and_answer();
  boundaries();
  without_waiting();
  groups();
}

}  // namespace guide::udp
