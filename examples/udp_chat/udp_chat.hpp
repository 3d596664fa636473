// SPDX-License-Identifier: Apache-2.0
#pragma once

// A chat without a server: what one says is shown to each other one once and in order, though
// datagrams get lost, come twice and overtake each other.

#include <chrono>
#include <fermata/io/udp.hpp>
#include <fermata/runtime.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

class Chat {
 public:
  using Show = std::function<void(const fermata::Address& speaker, const std::string& text)>;

  /// Takes part at `address` and calls `show` for what the others say.
  Chat(const fermata::Address& address, Show show)
      : socket_(fermata::UdpSocket::bind(address)),
        show_(std::move(show)),
        answers_("answers", 16),
        listener_(fermata::spawn("listener", [this] { listen(); })) {}

  /// Leaves. Not for destructors: it waits for the listener's end.
  void leave() {
    listener_.cancel();
    try {
      fermata::await(listener_);
    } catch (const fermata::Cancellation&) {
    }
  }

  /// Returns when everybody has answered; says it again to those who have not.
  void say(const std::set<fermata::Address>& others, const std::string& text) {
    const std::string message = 'M' + std::to_string(++said_) + ' ' + text;
    std::set<fermata::Address> missing = others;
    while (!missing.empty()) {
      for (const fermata::Address& other : missing) socket_.send_to(message, other);
      try {
        while (!missing.empty()) {
          const Answer answer = answers_.recv({.timeout = std::chrono::milliseconds(200)});
          if (answer.number == said_) missing.erase(answer.from);
        }
      } catch (const fermata::Timeout&) {
        // The message was lost, or the answer to it.
      }
    }
  }

 private:
  struct Answer {
    fermata::Address from;
    int number = 0;
  };

  void listen() {
    std::string buffer(1500, '\0');
    while (true) {
      const fermata::Datagram got = socket_.receive(std::as_writable_bytes(std::span(buffer)));
      heard(got.peer, buffer.substr(0, got.size));
    }
  }

  /// "M3 text" says the third thing, "A3" answers it.
  void heard(const fermata::Address& from, const std::string& datagram) {
    const int number = std::stoi(datagram.substr(1));
    if (datagram.front() == 'A') {
      static_cast<void>(answers_.try_send(Answer{from, number}));
      return;
    }
    socket_.send_to('A' + std::to_string(number), from);
    // Shown are only higher numbers than before. It would not do to look whether this is the one
    // that was shown last: the network may bring back a message from before that one.
    int& shown = shown_[from];
    if (number <= shown) return;
    shown = number;
    show_(from, datagram.substr(datagram.find(' ') + 1));
  }

  fermata::UdpSocket socket_;
  Show show_;
  fermata::Channel<Answer> answers_;
  int said_ = 0;
  std::map<fermata::Address, int> shown_;  // The number of what each has said last.
  fermata::Coroutine<> listener_;
};
