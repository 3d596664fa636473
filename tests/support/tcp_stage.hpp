// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connections of a loop that write down what they are told.

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/loop/tcp/pipe.hpp"
#include "fermata/loop/tcp/server.hpp"
#include "fermata/sync/await.hpp"

namespace fermata::test {

using loop::TcpConnection;

/// What one connection was told, in order: "connect", "message hello", "error send", "close" ...
class Told {
 public:
  using Lines = std::vector<std::string>;

  /// Handlers that write here and then call `then`, when it is given, with the line.
  loop::TcpHandlers handlers(std::function<void(TcpConnection&, const std::string&)> then = {}) {
    const auto tell = [lines = lines_, then = std::move(then)](TcpConnection& who,
                                                               const std::string& line) {
      lines->push_back(line);
      if (then) then(who, line);
    };
    const auto event = [tell](const char* line) {
      return [tell, line](TcpConnection& who) { tell(who, line); };
    };
    loop::TcpHandlers handlers;
    handlers.on_connect = event("connect");
    handlers.on_message = [tell](TcpConnection& who, std::string_view message) {
      tell(who, "message " + std::string(message));
    };
    handlers.on_end = event("end");
    handlers.on_error = [tell](TcpConnection& who, const loop::TcpFailure& failure) {
      tell(who, std::string("error ") + to_string(failure.kind));
    };
    handlers.on_close = event("close");
    handlers.on_full = event("full");
    handlers.on_drain = event("drain");
    handlers.on_flushed = event("flushed");
    return handlers;
  }
  [[nodiscard]] const Lines& lines() const { return *lines_; }
  [[nodiscard]] std::size_t count(std::string_view line) const {
    std::size_t found = 0;
    for (const std::string& each : *lines_) found += each == line ? 1 : 0;
    return found;
  }

 private:
  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
};

using Lines = Told::Lines;

inline loop::FramingPtr lines() { return std::make_unique<loop::LineFraming>(); }
inline loop::FramingPtr lengths() { return std::make_unique<loop::LengthFraming>(); }

/// A peer that is not a callback program: a coroutine with a stream, for the other side of a test.
/// Its errors of I/O are its own affair.
inline Coroutine<> peer_of(const Address& address, std::function<void(TcpStream&)> act) {
  return spawn("peer", [address, act = std::move(act)] {
    try {
      TcpStream stream = TcpStream::connect(address);
      act(stream);
    } catch (const InputOutputError&) {
    }
  });
}

inline void write_text(TcpStream& stream, std::string_view text) {
  stream.write(std::as_bytes(std::span(text)));
}

/// Everything until the end of the stream.
inline std::string read_text(TcpStream& stream) {
  std::string all;
  std::vector<std::byte> buffer(65'536);
  while (const std::size_t size = stream.read(buffer)) {
    all.append(reinterpret_cast<const char*>(buffer.data()), size);
  }
  return all;
}

inline const Address kAnyPort("127.0.0.1", 0);

}  // namespace fermata::test
