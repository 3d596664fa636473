// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who takes part in a chat. A connection that breaks is made again, and both sides go on where they
// were: nothing that was said is lost, or shown twice.

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "examples/chat/room.hpp"

namespace chat {

class Guest {
 public:
  /// Told of each line that anybody has said, this one too.
  using Show = std::function<void(const std::string& line)>;

  Guest(fermata::loop::Loop& loop, const fermata::Address& room, std::string name, Show show)
      : name_(std::move(name)),
        show_(std::move(show)),
        connection_(TcpConnection::connect(loop, room, handlers(),
                                           chat_options<fermata::loop::TcpClientOptions>())) {}
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() { connection_->abandon(); }

  void say(const std::string& text) {
    unheard_.push_back("SAY " + std::to_string(++said_) + ' ' + text);
    send_unsent();
  }
  /// Says no more on this connection; it ends when the room has sent what there was. A guest who
  /// has not left comes back then.
  void fall_silent() { connection_->shutdown_write(); }
  /// For good.
  void leave() {
    leaving_ = true;
    connection_->cancel_reconnect();
    connection_->close();
  }

  [[nodiscard]] std::size_t shown() const { return shown_; }
  [[nodiscard]] TcpConnection& connection() { return *connection_; }

 private:
  fermata::loop::TcpHandlers handlers() {
    fermata::loop::TcpHandlers handlers;
    handlers.on_connect = [this](TcpConnection& room) {
      connected_ = true;
      unsent_ = 0;
      static_cast<void>(room.send("HELLO " + name_ + ' ' + std::to_string(shown_)));
      send_unsent();
    };
    handlers.on_message = [this](TcpConnection& room, std::string_view line) {
      if (!answer_ping(room, line)) shown(std::string(line));
    };
    handlers.on_drain = [this](TcpConnection&) { send_unsent(); };
    handlers.on_end = [](TcpConnection& room) { room.shutdown_write(); };
    handlers.on_close = [this](TcpConnection& room) {
      connected_ = false;
      if (!leaving_) room.reconnect(std::chrono::milliseconds(100));
    };
    return handlers;
  }

  void shown(const std::string& line) {
    ++shown_;
    if (std::string_view rest = line; next_word(rest) == name_) {
      unheard_.pop_front();
      if (unsent_ > 0) --unsent_;
    }
    show_(line);
  }

  void send_unsent() {
    using fermata::loop::SendResult;
    while (connected_ && unsent_ < unheard_.size() && !connection_->is_full()) {
      const SendResult result = connection_->send(unheard_[unsent_]);
      if (result != SendResult::Sent && result != SendResult::Queued) return;
      ++unsent_;
    }
  }

  std::string name_;
  Show show_;
  std::size_t said_ = 0;
  std::size_t shown_ = 0;
  std::deque<std::string> unheard_;  // Said, but the room has not shown it.
  std::size_t unsent_ = 0;           // The first of them that this connection has not carried.
  bool connected_ = false;
  bool leaving_ = false;
  fermata::loop::TcpConnectionPtr connection_;
};

}  // namespace chat
