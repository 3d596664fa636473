// SPDX-License-Identifier: Apache-2.0

// A loop of libuv that user code runs in a scope, beside connections of Fermata whose reactor may
// stand on the same library.

#include <uv.h>

#include <array>
#include <string>
#include <vector>

#include "fermata/io/tcp.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sync/await.hpp"
#include "tests/posix/suspending/fixture.hpp"

namespace fermata {
namespace {

using posix::suspending;

class SuspendingForeignLoop : public test::OnEachDriver {};
INSTANTIATE_TEST_SUITE_P(Drivers, SuspendingForeignLoop, test::every_driver(), test::driver_name);

/// A client on a loop of its own: sends a byte and waits for it to come back, again and again.
class ForeignClient {
 public:
  ForeignClient(int port, int rounds) : rounds_(rounds) {
    EXPECT_EQ(uv_loop_init(&loop_), 0);
    EXPECT_EQ(uv_tcp_init(&loop_, &socket_), 0);
    EXPECT_EQ(uv_timer_init(&loop_, &timer_), 0);
    socket_.data = this;
    timer_.data = this;
    sockaddr_in address = {};
    EXPECT_EQ(uv_ip4_addr("127.0.0.1", port, &address), 0);
    EXPECT_EQ(uv_tcp_connect(&connect_, &socket_, reinterpret_cast<const sockaddr*>(&address),
                             [](uv_connect_t* request, int status) {
                               EXPECT_EQ(status, 0);
                               static_cast<ForeignClient*>(request->handle->data)->start();
                             }),
              0);
    EXPECT_EQ(
        uv_timer_start(
            &timer_, [](uv_timer_t* timer) { ++static_cast<ForeignClient*>(timer->data)->ticks_; },
            1, 1),
        0);
  }
  ForeignClient(const ForeignClient&) = delete;
  ForeignClient& operator=(const ForeignClient&) = delete;
  ~ForeignClient() { EXPECT_EQ(uv_loop_close(&loop_), 0); }

  void run() { EXPECT_EQ(uv_run(&loop_, UV_RUN_DEFAULT), 0); }

  [[nodiscard]] int left() const { return rounds_; }

 private:
  void start() {
    EXPECT_EQ(uv_read_start(
                  reinterpret_cast<uv_stream_t*>(&socket_),
                  [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
                    auto& room = static_cast<ForeignClient*>(handle->data)->room_;
                    *buffer = uv_buf_init(room.data(), 1);
                  },
                  [](uv_stream_t* stream, ssize_t size, const uv_buf_t*) {
                    EXPECT_GE(size, 0);
                    if (size > 0) static_cast<ForeignClient*>(stream->data)->next();
                  }),
              0);
    send();
  }
  void next() {
    if (--rounds_ > 0) return send();
    uv_close(reinterpret_cast<uv_handle_t*>(&socket_), nullptr);
    uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
  }
  void send() {
    uv_buf_t byte = uv_buf_init(const_cast<char*>("x"), 1);
    EXPECT_EQ(uv_write(&write_, reinterpret_cast<uv_stream_t*>(&socket_), &byte, 1, nullptr), 0);
  }

  int rounds_;
  int ticks_ = 0;
  uv_loop_t loop_ = {};
  uv_tcp_t socket_ = {};
  uv_timer_t timer_ = {};
  uv_connect_t connect_ = {};
  uv_write_t write_ = {};
  std::array<char, 1> room_{};
};

void echo(TcpListener& listener) {
  while (auto accepted = listener.accept()) {
    spawn([stream = std::move(*accepted)]() mutable {
      std::vector<std::byte> buffer(64);
      while (const std::size_t size = stream.read(buffer)) {
        EXPECT_EQ(posix::serving, nullptr);
        stream.write(std::span(buffer).first(size));
      }
    });
  }
}

TEST_P(SuspendingForeignLoop, RunsBesideAHundredConnections) {
  constexpr int kConnections = 100;
  constexpr int kRounds = 20;
  run([] {
    TcpListener listener = TcpListener::bind(Address::v4(INADDR_LOOPBACK, 0));
    const Address address = listener.local_address();
    const auto server = spawn([&] { echo(listener); });
    std::vector<Coroutine<>> clients;
    for (int i = 0; i < kConnections; ++i) {
      clients.push_back(spawn([&] {
        TcpStream stream = TcpStream::connect(address);
        std::vector<std::byte> buffer(1);
        for (int round = 0; round < kRounds; ++round) {
          stream.write("y");
          stream.read_exact(buffer);
          EXPECT_EQ(posix::serving, nullptr);
        }
      }));
    }
    int left = -1;
    suspending([&] {
      ForeignClient client(address.port(), kRounds);
      client.run();
      left = client.left();
    });
    EXPECT_EQ(left, 0);
    for (const auto& each : clients) await(each);
    listener.close();
    await(server);
  });
}

TEST_P(SuspendingForeignLoop, IsAtHomeInSeveralCoroutines) {
  run([] {
    TcpListener listener = TcpListener::bind(Address::v4(INADDR_LOOPBACK, 0));
    const int port = listener.local_address().port();
    const auto server = spawn([&] { echo(listener); });
    std::vector<Coroutine<>> clients;
    for (int i = 0; i < 5; ++i) {
      clients.push_back(spawn([port] {
        suspending([port] {
          ForeignClient client(port, 10);
          client.run();
          EXPECT_EQ(client.left(), 0);
        });
      }));
    }
    for (const auto& each : clients) await(each);
    listener.close();
    await(server);
  });
}

}  // namespace
}  // namespace fermata
