// SPDX-License-Identifier: Apache-2.0
#pragma once

// The code of docs/guide/network.md, so that what the guide shows is compiled and run.

#include <array>
#include <chrono>
#include <cstdio>
#include <fermata/io/io.hpp>
#include <fermata/io/tty.hpp>
#include <fermata/runtime.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace guide::network {

using namespace std::chrono_literals;

inline std::string line_of(fermata::ByteStream& stream) {
  std::string line;
  std::array<std::byte, 1> next;
  while (stream.read(next) == 1 && next[0] != std::byte{'\n'}) {
    line += static_cast<char>(next[0]);
  }
  return line;
}

inline void greet(fermata::TcpStream& peer) {
  try {
    peer.write("hello, " + line_of(peer) + "\n");
  } catch (const fermata::InputOutputError& error) {
    std::printf("lost a client: %s\n", error.what());
  }
}

inline void greeter() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0});
  const std::uint16_t port = listener.local_address().port();
  fermata::Scope service("greeter");  // Its end is the end of the server and of all sessions.
  service.spawn("server", [listener = std::move(listener)]() mutable {
    while (auto peer = listener.accept()) {
      fermata::spawn("session", [peer = std::move(*peer)]() mutable { greet(peer); });
    }
  });

  auto client = fermata::TcpStream::connect("localhost", port, {.timeout = 5s});
  client.write("Ada\n");
  std::printf("%s\n", line_of(client).c_str());
}

inline void patience() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0});
  auto client = fermata::TcpStream::connect(listener.local_address());
  auto server = listener.accept();
  std::array<std::byte, 16> buffer;
  try {
    server->read(buffer, {.timeout = 20ms});
  } catch (const fermata::Timeout&) {
    std::printf("the client is slow\n");
  }
  client.write("late");  // No byte is lost.
  std::printf("%zu bytes\n", server->read(buffer));
}

/// Echoes what has come, without waiting for more. False when the client has ended, or is lost.
inline bool echo_some(fermata::ByteStream& client) {
  std::array<std::byte, 64> buffer;
  try {
    const std::size_t size = client.read(buffer);
    client.write(std::span(buffer).first(size));
    return size > 0;
  } catch (const fermata::InputOutputError&) {
    return false;
  }
}

/// Serves two clients in one coroutine, until both have ended.
inline void serve_both(fermata::ByteStream& first, fermata::ByteStream& second) {
  std::vector<fermata::ByteStream*> clients = {&first, &second};
  while (!clients.empty()) {
    const std::size_t ready = fermata::await_any_readable(clients);
    const bool goes_on = echo_some(*clients[ready]);  // Its read does not wait.
    if (!goes_on) clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(ready));
  }
}

inline void readiness() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0});
  auto ada = fermata::TcpStream::connect(listener.local_address());
  auto first = listener.accept();
  auto bob = fermata::TcpStream::connect(listener.local_address());
  auto second = listener.accept();
  fermata::Scope service("echo");
  service.spawn("echo", [&] { serve_both(*first, *second); });
  bob.write("I am Bob\n");
  std::printf("%s\n", line_of(bob).c_str());
  ada.write("I am Ada\n");
  std::printf("%s\n", line_of(ada).c_str());
}

inline void together() {
  auto [reader, writer] = fermata::open_pipe();
  const std::string header = "length: 5\n";
  const std::string body = "bytes";
  const std::array pieces = {std::as_bytes(std::span(header)), std::as_bytes(std::span(body))};
  writer.writev(pieces);
  writer.close();
  std::printf("%s\n", line_of(reader).c_str());
  std::printf("%s\n", line_of(reader).c_str());  // Up to the end of the stream.
}

inline void serve(fermata::TcpStream& peer, const std::string& path) {
  auto page = fermata::File::open(path);
  peer.write("length: " + std::to_string(page.size()) + "\n");
  peer.send_file(page);
}

inline void files() {
  fermata::fs::write_file("guide-page", "In the beginning\n");
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0});
  auto client = fermata::TcpStream::connect(listener.local_address());
  auto peer = listener.accept();
  serve(*peer, "guide-page");
  for (int line = 0; line < 2; ++line) std::printf("%s\n", line_of(client).c_str());
}

inline void options() {
  auto listener = fermata::TcpListener::bind({"127.0.0.1", 0}, {.accepts_per_turn = 16});
  auto client = fermata::TcpStream::connect(listener.local_address());
  auto peer = listener.accept();
  client.set_keep_alive(60s);
  client.set_receive_buffer(16 * 1024);  // A slow reader slows the writer down sooner.
  peer->reset();                         // Not an end of the stream: an error for the client.
  try {
    std::array<std::byte, 1> next;
    client.read(next);
  } catch (const fermata::InputOutputError& error) {
    std::printf("%s\n", error.what());  // read: Connection reset by peer
  }
}

/// In characters, for what is printed.
inline int page_width() {
  try {
    const auto output = fermata::TtyStream::output();
    if (output.is_terminal()) return output.window_size().columns;
  } catch (const fermata::InputOutputError&) {  // It is a file.
  }
  return 80;
}

inline std::size_t copy(fermata::Io& from, fermata::Io& to) {
  std::size_t copied = 0;
  std::array<std::byte, 4096> piece;
  while (const std::size_t size = from.read(piece)) {
    to.write(std::span(piece).first(size));
    copied += size;
  }
  return copied;
}

inline void anything() {
  auto [reader, writer] = fermata::open_pipe();
  fermata::fs::write_file("guide-page", "whatever it is\n");
  fermata::Io page(fermata::File::open("guide-page"));
  fermata::Io pipe(std::move(writer));
  std::printf("%zu bytes\n", copy(page, pipe));
  std::printf("%s\n", line_of(reader).c_str());
  fermata::fs::remove("guide-page");
}

inline void names() {
  for (const fermata::Address& address : fermata::resolve("localhost", "8080")) {
    std::printf("%s\n", address.text().c_str());
  }
  try {
    (void)fermata::resolve("localhost", "no-such-service");
  } catch (const fermata::DnsError& error) {
    std::printf("%s\n", error.what());
  }
}

inline void tour() {
  greeter();
  patience();
  readiness();
  together();
  files();
  options();
  anything();
  std::printf("%d columns\n", page_width());
  names();
}

}  // namespace guide::network
