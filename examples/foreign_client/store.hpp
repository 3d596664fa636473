// SPDX-License-Identifier: Apache-2.0
#pragma once

// A server, written on Fermata, with two commands of Redis: SADD and INCR.

#include <cstdint>
#include <fermata/io/tcp.hpp>
#include <fermata/runtime.hpp>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace foreign_client {

class Store {
 public:
  std::string answer(const std::vector<std::string>& command) {
    if (command[0] == "SADD") return number(sets_[command[1]].insert(command[2]).second ? 1 : 0);
    if (command[0] == "INCR") return number(++numbers_[command[1]]);
    return "-ERR unknown command\r\n";
  }
  [[nodiscard]] std::size_t count(const std::string& key) {
    return sets_[key].size() + numbers_[key];
  }

 private:
  static std::string number(std::size_t value) { return ":" + std::to_string(value) + "\r\n"; }

  std::map<std::string, std::set<std::string>> sets_;
  std::map<std::string, std::size_t> numbers_;
};

/// One text of the protocol: `size` bytes and the end of a line.
inline std::string read_text(fermata::TcpStream& stream, std::size_t size) {
  std::string text(size + 2, '\0');
  stream.read_exact(std::as_writable_bytes(std::span(text)));
  text.resize(size);
  return text;
}

/// A line such as "*3" or "$5".
inline std::size_t read_number(fermata::TcpStream& stream) {
  std::string line;
  for (char next = '\0'; !line.ends_with("\r\n"); line += next) {
    stream.read_exact(std::as_writable_bytes(std::span(&next, 1)));
  }
  return std::stoul(line.substr(1));
}

inline void serve_client(fermata::TcpStream& stream, Store& store) {
  for (;;) {
    std::vector<std::string> command(read_number(stream));
    for (std::string& part : command) part = read_text(stream, read_number(stream));
    stream.write(store.answer(command));
  }
}

inline void serve(std::uint16_t port, const std::shared_ptr<Store>& store) {
  auto listener = fermata::TcpListener::bind(fermata::Address::v4(0, port));
  while (auto accepted = listener.accept()) {
    fermata::spawn([store, stream = std::move(*accepted)]() mutable {
      try {
        serve_client(stream, *store);
      } catch (const fermata::InputOutputError&) {  // The client has gone.
      }
    });
  }
}

}  // namespace foreign_client
