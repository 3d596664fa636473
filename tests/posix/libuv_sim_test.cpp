// SPDX-License-Identifier: Apache-2.0

// Debian's libuv, unchanged, in a simulated machine: its loop waits in virtual time, and its TCP
// goes through the simulated network.

#include <uv.h>

#include <cstdlib>
#include <fermata/core/assertions.hpp>
#include <fermata/sim.hpp>
#include <memory>
#include <string>

namespace {

using namespace std::chrono_literals;

/// A loop; null when the process has no descriptor left for it, which is a fault.
class Loop {
 public:
  Loop() : ready_(uv_loop_init(&loop_) == 0) {}
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    // Who is cancelled leaves it in the middle of its run.
    if (!ready_ || !ended_) return;
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }
  uv_loop_t* get() { return ready_ ? &loop_ : nullptr; }
  void run() {
    ended_ = false;
    EXPECT_EQ(uv_run(&loop_, UV_RUN_DEFAULT), 0);
    ended_ = true;
  }

 private:
  uv_loop_t loop_;
  bool ready_;
  bool ended_ = true;
};

SIM_TEST(Libuv, TimersWaitInVirtualTime) {
  world.node("client", [] {
    Loop loop;
    if (loop.get() == nullptr) return;
    uv_timer_t timer;
    uv_timer_init(loop.get(), &timer);
    static int fired;
    fired = 0;
    const fermata::Instant begun = fermata::now();
    uv_timer_start(
        &timer,
        [](uv_timer_t* each) {
          if (++fired == 3) uv_close(reinterpret_cast<uv_handle_t*>(each), nullptr);
        },
        1000, 500);
    loop.run();
    EXPECT_EQ(fired, 3);
    EXPECT_GE(fermata::now() - begun, 2s);
    EXPECT_LT(fermata::now() - begun, 20s);
  });
  world.run();
}

template <class Handle>
uv_stream_t* stream_of(Handle* handle) {
  return reinterpret_cast<uv_stream_t*>(handle);
}

template <class Handle>
void close(Handle* handle) {
  auto* const any = reinterpret_cast<uv_handle_t*>(handle);
  if (uv_is_closing(any) == 0) uv_close(any, nullptr);
}

void give_buffer(uv_handle_t*, std::size_t, uv_buf_t* buffer) {
  static thread_local char memory[4096];
  *buffer = uv_buf_init(memory, sizeof memory);
}

/// Sends back what it reads, to one client.
class EchoServer {
 public:
  explicit EchoServer(uv_loop_t* loop) : loop_(loop) {
    uv_tcp_init(loop, &listener_);
    listener_.data = this;
    sockaddr_in address;
    uv_ip4_addr("0.0.0.0", 7000, &address);
    EXPECT_EQ(uv_tcp_bind(&listener_, reinterpret_cast<sockaddr*>(&address), 0), 0);
    EXPECT_EQ(uv_listen(stream_of(&listener_), 8, &EchoServer::on_connection), 0);
  }

 private:
  static void on_connection(uv_stream_t* listener, int status) {
    auto& self = *static_cast<EchoServer*>(listener->data);
    if (status != 0) return;
    uv_tcp_init(self.loop_, &self.peer_);
    self.peer_.data = &self;
    if (uv_accept(listener, stream_of(&self.peer_)) == 0) {
      uv_read_start(stream_of(&self.peer_), give_buffer, &EchoServer::on_read);
    } else {
      close(&self.peer_);
    }
    close(&self.listener_);
  }
  static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    auto& self = *static_cast<EchoServer*>(stream->data);
    if (size < 0) return close(&self.peer_);
    auto* const answer = new Answer{
        .request = {}, .bytes = std::string(buffer->base, static_cast<std::size_t>(size))};
    const uv_buf_t bytes = uv_buf_init(answer->bytes.data(), static_cast<unsigned>(size));
    uv_write(&answer->request, stream, &bytes, 1,
             [](uv_write_t* request, int) { delete reinterpret_cast<Answer*>(request); });
  }

  struct Answer {
    uv_write_t request;  // First, so that its address is the answer's.
    std::string bytes;
  };

  uv_loop_t* loop_;
  uv_tcp_t listener_;
  uv_tcp_t peer_;
};

/// Sends one text and waits for all of it to come back.
class EchoClient {
 public:
  EchoClient(uv_loop_t* loop, const sockaddr* server) {
    uv_tcp_init(loop, &stream_);
    stream_.data = this;
    uv_tcp_connect(&connect_, &stream_, server, &EchoClient::on_connect);
  }
  [[nodiscard]] const std::string& answer() const { return answer_; }
  static inline const std::string kText = std::string(3000, 'x');

 private:
  static void on_connect(uv_connect_t* request, int status) {
    auto& self = *static_cast<EchoClient*>(request->handle->data);
    if (status != 0) return close(&self.stream_);
    const uv_buf_t text =
        uv_buf_init(const_cast<char*>(kText.data()), static_cast<unsigned>(kText.size()));
    uv_write(&self.write_, request->handle, &text, 1, [](uv_write_t* write, int failed) {
      if (failed != 0) close(write->handle);
    });
    uv_read_start(request->handle, give_buffer, &EchoClient::on_read);
  }
  static void on_read(uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
    auto& self = *static_cast<EchoClient*>(stream->data);
    if (size > 0) self.answer_.append(buffer->base, static_cast<std::size_t>(size));
    if (size < 0 || self.answer_.size() >= kText.size()) close(stream);
  }

  uv_tcp_t stream_;
  uv_connect_t connect_;
  uv_write_t write_;
  std::string answer_;
};

SIM_TEST(Libuv, TwoMachinesTalkOverTcp) {
  const auto complete = std::make_shared<bool>(false);
  world.service("server", [] {
    Loop loop;
    if (loop.get() == nullptr) return;
    const EchoServer server(loop.get());
    loop.run();
  });
  world.node("client", [complete, &world] {
    Loop loop;
    if (loop.get() == nullptr) return;
    fermata::delay(1ms);  // Until the server listens.
    sockaddr_in server;
    uv_ip4_addr(world.node("server").address(0).ip_text().c_str(), 7000, &server);
    const EchoClient client(loop.get(), reinterpret_cast<const sockaddr*>(&server));
    loop.run();
    *complete = client.answer() == EchoClient::kText;
  });
  world.run();
  FERMATA_SOMETIMES(*complete, "all comes back");
}

// Who is to end gives libuv answers that make it call abort(), which then ends the coroutine only.
SIM_TEST(Libuv, ItsLoopEndsWhereverItIsInterrupted) {
  world.node("client", [&world] {
    const auto program = [] {
      Loop loop;
      if (loop.get() == nullptr) return;
      uv_timer_t timer;
      uv_timer_init(loop.get(), &timer);
      uv_timer_start(
          &timer, [](uv_timer_t* each) { close(each); }, 10, 0);
      sockaddr_in server;
      uv_ip4_addr("127.0.0.1", 7000, &server);
      const EchoClient client(loop.get(), reinterpret_cast<const sockaddr*>(&server));
      loop.run();
    };
    const fermata::sim::SweepCounts counts = world.sweep_cancellation(program);
    FERMATA_SOMETIMES_GE(counts.cancellations, 2u, "the loop is interrupted");
  });
  world.run();
}

}  // namespace
