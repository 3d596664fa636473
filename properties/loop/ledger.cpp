// SPDX-License-Identifier: Apache-2.0
#include "properties/loop/ledger.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fermata/loop/tcp/server.hpp"
#include "fermata/runtime.hpp"

namespace fermata::properties {
namespace {

using namespace std::chrono_literals;
using loop::SendResult;
using loop::TcpConnection;

constexpr std::size_t kMessageMax = 3'000;
constexpr std::string_view kLastWords = "the last words";
constexpr loop::WaterMarks kMarks{.high = 8'000, .low = 2'000};

void expect(sim::World& world, bool holds, const std::string& otherwise) {
  if (!holds) world.fail(sim::Verdict::Safety, "TCP (LEDGER): " + otherwise);
}

/// One direction: what was accepted for sending, and what has arrived.
struct Way {
  std::string sent;
  std::size_t arrived = 0;

  /// What is wrong with it.
  [[nodiscard]] std::string arrive(std::string_view bytes) {
    const std::size_t before = std::exchange(arrived, arrived + bytes.size());
    if (arrived > sent.size()) return "bytes that nobody has sent";
    if (bytes != std::string_view(sent).substr(before, bytes.size()))
      return "other bytes than were sent";
    return {};
  }
};

/// One side of the connection: a random program, and the rules of what it may be told.
class Side {
 public:
  Side(sim::World& world, loop::Loop& loop, Way& out, Way& in, std::function<void()> closed)
      : world_(world), loop_(loop), out_(out), in_(in), closed_(std::move(closed)) {}

  loop::TcpHandlers handlers() {
    loop::TcpHandlers handlers;
    handlers.on_connect = [this](TcpConnection& self) {
      expect(!std::exchange(connected_, true), "on_connect comes twice");
      expect(!over_, "on_connect comes after on_close");
      connection_ = self.weak_from_this();
      act();
    };
    handlers.on_message = [this](TcpConnection& self, std::string_view message) {
      expect(connected_ && !over_ && !ended_ && !self.is_paused(), "a message comes when none may");
      const std::string complaint = in_.arrive(message);
      expect(complaint.empty(), complaint);
      if (fermata::random(8) == 0) pause(self);
    };
    handlers.on_end = [this](TcpConnection& self) {
      expect(!std::exchange(ended_, true), "on_end comes twice");
      shut_ = true;
      self.shutdown_write();
    };
    handlers.on_error = [this](TcpConnection&, const loop::TcpFailure& failure) {
      expect(!over_, "on_error comes after on_close");
      gave_up_ = gave_up_ || failure.kind != loop::TcpFailureKind::Refused;
    };
    handlers.on_full = [this](TcpConnection&) {
      expect(!std::exchange(full_, true), "on_full comes twice without on_drain");
    };
    handlers.on_drain = [this](TcpConnection&) {
      expect(std::exchange(full_, false), "on_drain comes without on_full");
    };
    handlers.on_close = [this](TcpConnection& self) {
      expect(!std::exchange(over_, true), "on_close comes twice");
      expect(self.state() == loop::TcpState::Closed, "on_close comes before it is closed");
      expect(self.counters().bytes_received >= in_.arrived, "fewer bytes are counted than came");
      expect(self.send("late") == SendResult::RefusedClosed, "a closed one takes more");
      closed_();
    };
    return handlers;
  }

  [[nodiscard]] bool over() const { return over_; }
  /// It was told that the peer sends no more.
  [[nodiscard]] bool is_ended() const { return ended_; }
  /// It has lost what it had to send, and knows.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  void act() {
    const auto self = connection_.lock();
    if (!self || over_ || self->state() != loop::TcpState::Established) return;
    switch (fermata::random(12)) {
      case 0:
        pause(*self);
        break;
      case 1:
        shut_ = true;
        self->shutdown_write();
        break;
      case 2:
        // What comes behind a half-closed side is not sent, and nobody has promised it.
        if (!shut_) out_.sent += kLastWords;
        return self->close(kLastWords);
      case 3:
        if (fermata::random(4) == 0) {
          gave_up_ = true;
          return self->destroy();
        }
        break;
      default:
        send(*self);
    }
    loop_.delay(std::chrono::microseconds(fermata::random(2'000)), [this] { act(); });
  }

  void send(TcpConnection& self) {
    std::string message(1 + fermata::random(kMessageMax), '\0');
    for (std::size_t i = 0; i < message.size(); ++i) {
      message[i] = static_cast<char>((out_.sent.size() + i) * 31 % 251);
    }
    const std::size_t before = out_.sent.size();
    out_.sent += message;
    const SendResult result = self.send(message);
    expect(self.queued() < kMarks.high + kMessageMax, "more is queued than the mark allows");
    if (result == SendResult::RefusedFull || result == SendResult::RefusedClosed) {
      out_.sent.resize(before);
    }
  }

  void pause(TcpConnection& self) {
    self.pause_receiving();
    loop_.delay(std::chrono::milliseconds(fermata::random(20)), [connection = connection_] {
      if (const auto open = connection.lock()) open->resume_receiving();
    });
  }

  void expect(bool holds, const std::string& otherwise) {
    properties::expect(world_, holds, otherwise);
  }

  sim::World& world_;
  loop::Loop& loop_;
  Way& out_;
  Way& in_;
  std::function<void()> closed_;
  std::weak_ptr<TcpConnection> connection_;
  bool connected_ = false;
  bool ended_ = false;
  bool shut_ = false;
  bool gave_up_ = false;
  bool full_ = false;
  bool over_ = false;
};

template <class Options>
Options options_of() {
  Options options;
  options.marks = kMarks;
  options.read_chunk = 1 + fermata::random(4'000);
  options.read_budget = 1 + fermata::random(8'000);
  options.allow_half_open = true;
  options.heartbeat.dead_after = 3s;
  return options;
}

}  // namespace

void keep_ledger(sim::World& world) {
  loop::Loop loop;
  Way up;
  Way down;
  std::unique_ptr<loop::TcpServer> server;
  Side at_client(world, loop, up, down, [&] { server->stop(5s); });
  Side at_server(world, loop, down, up, [] {});
  server = std::make_unique<loop::TcpServer>(
      loop, Address("127.0.0.1", 7800), at_server.handlers(),
      loop::TcpServerOptions{.connection = options_of<loop::TcpOptions>()});
  const auto client = TcpConnection::connect(loop, server->local_address(), at_client.handlers(),
                                             options_of<loop::TcpClientOptions>());
  loop.run();
  expect(world, at_client.over(), "the connection is not told of its end");
  expect(world, loop.timer_count() == 0, "a timer is left");
  expect(world, server->connection_count() == 0, "the server keeps a connection");
  if (at_client.is_ended() && !at_server.gave_up()) {
    expect(world, down.arrived == down.sent.size(), "what the server has sent is lost");
  }
  if (at_server.is_ended() && !at_client.gave_up()) {
    expect(world, up.arrived == up.sent.size(), "what the client has sent is lost");
  }
}

}  // namespace fermata::properties
