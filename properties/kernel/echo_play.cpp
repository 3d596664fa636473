// SPDX-License-Identifier: Apache-2.0
#include "properties/kernel/echo_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <utility>

#include "fermata/poll/reactor.hpp"
#include "fermata/runtime.hpp"
#include "tests/support/fake_kernel.hpp"

namespace fermata::properties {

namespace {

using namespace std::chrono_literals;

constexpr Duration kStep = 1ms;

class EchoPlay {
 public:
  EchoPlay(const PlayedBackend& played, const EchoScript& script)
      : script_(script),
        kernel_(script.answers, {.nanoseconds = played.nanoseconds, .waits_max = 20'000}) {
    RuntimeOptions options;
    options.handle_stop_signals = false;
    options.log = [this](std::string_view text) { complain(std::string(text)); };
    Runtime runtime(poll::make_reactor(poll::make_backend(played.kind)), std::move(options));
    try {
      runtime.run([this] { serve(); });
    } catch (const std::exception& error) {
      complain(fmt::format("the run has failed: {}", error.what()));
    }
  }

  std::string complaint() {
    if (kernel_.lost_patience()) return "the kernel was asked again and again, or forever";
    for (const Peer& peer : peers_) {
      if (peer.file == nullptr || peer.file->outgoing != peer.sent) {
        complain("a peer has not got back what it has sent");
      }
    }
    if (kernel_.waits() > reasons()) {
      complain(fmt::format("{} waits, {} reasons to wait", kernel_.waits(), reasons()));
    }
    return complaint_;
  }

 private:
  struct Peer {
    test::FakeKernel::File file;
    std::string sent;
    std::size_t next = 0;
  };

  void complain(std::string what) {
    if (complaint_.empty()) complaint_ = std::move(what);
  }

  /// To be asked: what happens, what is not calm, and some for the begin and the end.
  [[nodiscard]] std::size_t reasons() const {
    return 20 + 2 * kernel_.answers().uncalm() + 3 * happened_;
  }

  void serve() {
    auto listener = TcpListener::bind(Address("127.0.0.1", 0));
    const int number = listener.local_address().port();
    peers_.resize(script_.peers.size());
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      kernel_.at(kernel_.now() + script_.peers[i].begin * kStep, [this, i, number] {
        ++happened_;
        peers_[i].file = kernel_.connect_to(number, 0);
        go_on(i);
      });
    }
    std::vector<Coroutine<>> all;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      auto stream = listener.accept();
      if (!stream) return complain("the listener was closed");
      all.push_back(spawn("echo", [stream = std::move(*stream)]() mutable { echo(stream); }));
    }
    when_all_settled(all);
  }

  static void echo(TcpStream& stream) {
    std::array<std::byte, 100> buffer;
    while (const std::size_t size = stream.read(buffer)) {
      stream.write(std::span(buffer).first(size));
    }
  }

  /// What a peer does in a millisecond: it takes, and sends the next piece, or its end.
  void go_on(std::size_t index) {
    const EchoPeer& script = script_.peers[index];
    Peer& peer = peers_[index];
    ++happened_;
    peer.file->room = script.room + std::size_t{1};
    if (peer.next < script.pieces.size()) {
      const std::string piece(script.pieces[peer.next], static_cast<char>('a' + peer.next % 26));
      peer.sent += piece;
      peer.file->incoming += piece;
      ++peer.next;
    } else {
      peer.file->ended = true;
    }
    if (peer.file->ended && peer.file->outgoing == peer.sent) return;
    kernel_.at(kernel_.now() + kStep, [this, index] { go_on(index); });
  }

  const EchoScript& script_;
  test::FakeKernel kernel_;
  std::vector<Peer> peers_;
  std::size_t happened_ = 0;
  std::string complaint_;
};

}  // namespace

std::string play(const PlayedBackend& played, const EchoScript& script) {
  return EchoPlay(played, script).complaint();
}

}  // namespace fermata::properties
