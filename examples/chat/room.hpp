// SPDX-License-Identifier: Apache-2.0
#pragma once

// The room of a chat: a server in callback style that keeps what was said and shows it to everybody
// in one order, each at the speed at which they read.

#include <fermata/loop/tcp/server.hpp>
#include <fermata/runtime.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace chat {

using fermata::loop::TcpConnection;

/// Takes the first word off `line`.
inline std::string_view next_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(std::min(line.size(), word.size() + 1));
  return word;
}
inline std::size_t next_number(std::string_view& line) {
  return std::stoul(std::string(next_word(line)));
}

/// The options of both sides: messages are lines, a silent peer is asked and then given up, and
/// little is queued for a slow one.
template <class Options>
Options chat_options(Options options = {}) {
  options.framing = [] { return std::make_unique<fermata::loop::LineFraming>(); };
  options.package_max = 1'000;
  options.marks = {.high = 8'192, .low = 1'024};
  options.allow_half_open = true;
  options.heartbeat = {
      .ping_after = std::chrono::seconds(2),
      .dead_after = std::chrono::seconds(5),
      .ping = [](TcpConnection& peer) { static_cast<void>(peer.send("PING")); },
  };
  return options;
}

/// True when `line` was about the heartbeat, and was answered.
inline bool answer_ping(TcpConnection& peer, std::string_view line) {
  if (line == "PING") static_cast<void>(peer.send("PONG"));
  return line == "PING" || line == "PONG";
}

class Room {
 public:
  Room(fermata::loop::Loop& loop, const fermata::Address& address)
      : server_(loop, address, handlers(),
                {.connection = chat_options<fermata::loop::TcpOptions>()}) {}

  [[nodiscard]] const fermata::Address& address() const { return server_.local_address(); }
  /// "ann 1 hello": who has said it, the how many-th of theirs it is, and what.
  [[nodiscard]] const std::vector<std::string>& said() const { return said_; }
  [[nodiscard]] const fermata::loop::TcpServer& server() const { return server_; }
  void stop() { server_.stop(std::chrono::seconds(1)); }

 private:
  struct Guest {
    std::string name;
    std::size_t shown = 0;  // Lines that were sent.
    bool leaving = false;
  };

  fermata::loop::TcpHandlers handlers() {
    fermata::loop::TcpHandlers handlers;
    handlers.on_message = [this](TcpConnection& who, std::string_view line) { heard(who, line); };
    handlers.on_drain = [this](TcpConnection& who) { show(who); };
    handlers.on_end = [this](TcpConnection& who) {
      guests_[who.id()].leaving = true;
      show(who);
    };
    handlers.on_close = [this](TcpConnection& who) { guests_.erase(who.id()); };
    return handlers;
  }

  /// "HELLO ann 7": ann, who has seen seven lines. "SAY 3 hello": the third thing that she says.
  void heard(TcpConnection& who, std::string_view line) {
    if (answer_ping(who, line)) return;
    Guest& guest = guests_[who.id()];
    const std::string_view verb = next_word(line);
    if (verb == "HELLO") {
      guest.name = next_word(line);
      guest.shown = std::min(next_number(line), said_.size());
      return show(who);
    }
    const std::size_t number = next_number(line);
    std::size_t& last = last_said_[guest.name];
    // Who came back says again what may have been lost.
    if (verb != "SAY" || guest.name.empty() || number > last + 1) return who.destroy();
    if (number <= last) return;
    last = number;
    said_.push_back(guest.name + ' ' + std::to_string(number) + ' ' + std::string(line));
    for (const auto& other : server_.connections()) show(*other);
  }

  /// Sends what the guest has not been sent, until its queue is full; on_drain goes on.
  void show(TcpConnection& who) {
    Guest& guest = guests_[who.id()];
    if (guest.name.empty() && !guest.leaving) return;
    while (guest.shown < said_.size() && !guest.name.empty()) {
      if (who.is_full() || who.state() != fermata::loop::TcpState::Established) return;
      if (who.send(said_[guest.shown]) == fermata::loop::SendResult::Failed) return;
      ++guest.shown;
    }
    if (guest.leaving) who.shutdown_write();
  }

  std::vector<std::string> said_;
  std::map<std::string, std::size_t> last_said_;  // By speaker: the number of the last line.
  std::map<std::uint64_t, Guest> guests_;         // By connection.
  fermata::loop::TcpServer server_;
};

}  // namespace chat
