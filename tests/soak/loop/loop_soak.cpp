// SPDX-License-Identifier: Apache-2.0

// An echo server in callback style under load, on any driver: clients check each byte, and both
// sides cut connections at random. It fails when a byte is wrong, when its memory or its
// descriptors grow, or when its counters do not agree.
//
//   fermata_loop_soak DRIVER|all [SECONDS [SEED]]
//   fermata_loop_soak --list

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/runtime.hpp"
#include "fermata/base/sanitizer.hpp"
#include "fermata/drivers/factory.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/loop/tcp/server.hpp"
#include "tests/soak/measure.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::TcpStream;
using fermata::loop::Loop;
using fermata::loop::SendResult;
using fermata::loop::TcpConnection;
using fermata::loop::TcpHandlers;
using fermata::loop::TcpServer;
using fermata::soak::Sample;
using fermata::soak::Verdict;

constexpr int kClients = 12;
constexpr int kSamples = 20;
constexpr std::size_t kChunkMax = 24'000;
/// What memory may grow by after the first quarter: what an allocator keeps, and a sanitizer.
#ifdef FERMATA_ASAN
constexpr std::uint64_t kKept = 32 << 20;
#else
constexpr std::uint64_t kKept = 2 << 20;
#endif
/// Descriptors that a driver keeps once it was used: libuv's spare one.
constexpr std::int64_t kKeptDescriptors = 1;

struct Counts {
  std::uint64_t exchanges = 0;  // Messages echoed whole and checked.
  std::uint64_t bytes = 0;
  std::uint64_t connections = 0;  // Of clients.
  std::uint64_t server_cuts = 0;
  std::uint64_t client_cuts = 0;
  std::uint64_t broken = 0;  // Connections that ended before their client wanted it.
  std::uint64_t wrong = 0;
  std::uint64_t opened = 0;  // On the server's side, by its callbacks, as all below.
  std::uint64_t closed = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

std::string patterned(std::uint64_t at, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>((at + i) * 7 + ((at + i) >> 8) * 31);
  }
  return text;
}

class EchoLoad {
 public:
  explicit EchoLoad(std::uint64_t seed)
      : random_(seed), server_(loop_, {"127.0.0.1", 0}, handlers()) {}

  void run(std::chrono::seconds length, const std::function<void(const Counts&)>& on_sample);
  void check(Verdict& verdict) const;
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  [[nodiscard]] std::uint64_t draw(std::uint64_t below) { return random_() % below; }
  TcpHandlers handlers();
  void echo(TcpConnection& peer, std::string_view bytes);
  void cut_one();
  void be_client();
  void converse(TcpStream& peer);
  bool exchange(TcpStream& peer, std::uint64_t at, std::size_t size);

  std::mt19937_64 random_;
  Counts counts_;
  Loop loop_;
  TcpServer server_;
  fermata::loop::RunReport report_;
  bool stopping_ = false;
};

TcpHandlers EchoLoad::handlers() {
  TcpHandlers handlers;
  handlers.on_connect = [this](TcpConnection&) { ++counts_.opened; };
  handlers.on_message = [this](TcpConnection& peer, std::string_view bytes) { echo(peer, bytes); };
  handlers.on_error = [](TcpConnection&, const fermata::loop::TcpFailure&) {};
  handlers.on_full = [](TcpConnection& peer) { peer.pause_receiving(); };
  handlers.on_drain = [](TcpConnection& peer) { peer.resume_receiving(); };
  handlers.on_close = [this](TcpConnection&) { ++counts_.closed; };
  return handlers;
}

void EchoLoad::echo(TcpConnection& peer, std::string_view bytes) {
  ++counts_.received;
  const std::uint64_t lot = draw(500);
  if (lot == 0) {
    ++counts_.server_cuts;
    return peer.destroy();
  }
  const SendResult result = peer.send(bytes);
  if (result == SendResult::Sent || result == SendResult::Queued) ++counts_.sent;
  if (lot != 1) return;
  ++counts_.server_cuts;
  peer.close();
}

/// Whatever it is doing.
void EchoLoad::cut_one() {
  const auto connections = server_.connections();
  if (connections.empty()) return;
  ++counts_.server_cuts;
  TcpConnection& peer = *connections[draw(connections.size())];
  if (draw(2) == 0) {
    peer.destroy();
  } else {
    peer.close();
  }
}

void EchoLoad::be_client() {
  while (!stopping_) {
    try {
      TcpStream peer = TcpStream::connect(server_.local_address());
      ++counts_.connections;
      converse(peer);
    } catch (const fermata::InputOutputError&) {
      ++counts_.broken;
    }
    fermata::delay(std::chrono::microseconds(draw(5'000)));
  }
}

void EchoLoad::converse(TcpStream& peer) {
  std::uint64_t at = draw(1'000'000);
  for (std::uint64_t left = draw(40) + 1; left > 0 && !stopping_; --left) {
    const std::size_t size = draw(kChunkMax) + 1;
    if (!exchange(peer, at, size)) return;
    at += size;
  }
}

/// Returns whether to go on.
bool EchoLoad::exchange(TcpStream& peer, std::uint64_t at, std::size_t size) {
  const std::string text = patterned(at, size);
  peer.write(text);
  if (draw(20) == 0) {  // It is cut with bytes on their way.
    ++counts_.client_cuts;
    peer.set_reset_on_close(draw(2) == 0);
    return false;
  }
  std::array<std::byte, 8192> buffer;
  for (std::size_t done = 0; done < size;) {
    const std::size_t got =
        peer.read(std::span(buffer).first(std::min(buffer.size(), size - done)));
    if (got == 0) {
      ++counts_.broken;
      return false;
    }
    const auto expected = std::as_bytes(std::span(text)).subspan(done, got);
    if (!std::equal(expected.begin(), expected.end(), buffer.begin())) ++counts_.wrong;
    done += got;
    counts_.bytes += got;
  }
  ++counts_.exchanges;
  return true;
}

void EchoLoad::run(std::chrono::seconds length,
                   const std::function<void(const Counts&)>& on_sample) {
  std::vector<fermata::Coroutine<>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(fermata::spawn("client", [this] { be_client(); }));
  }
  const auto cutter = loop_.repeat(5ms, [this] { cut_one(); });
  const auto sampler =
      loop_.repeat(fermata::Duration(length) / kSamples, [&] { on_sample(counts_); });
  loop_.delay(length + 50ms, [&] {
    stopping_ = true;
    for (auto& client : clients) fermata::await(client);
    loop_.cancel(cutter);
    loop_.cancel(sampler);
    server_.stop(1s);
  });
  report_ = loop_.run();
}

void EchoLoad::check(Verdict& verdict) const {
  const auto& server = server_.counters();
  verdict.require(counts_.wrong == 0, fmt::format("{} reads were wrong", counts_.wrong));
  verdict.require(counts_.exchanges > 0 && counts_.server_cuts > 0, "the load did nothing");
  verdict.require(!report_.stopped && report_.suspended == 0, "callbacks are left suspended");
  verdict.require(loop_.timer_count() == 0 && loop_.identifiers().empty(),
                  fmt::format("{} callbacks are left", loop_.identifiers().size()));
  verdict.require(server_.connection_count() == 0 && server.accepted == server.closed &&
                      server.accept_errors == 0,
                  fmt::format("{} accepted, {} closed, {} errors", server.accepted, server.closed,
                              server.accept_errors));
  verdict.require(
      server.closed == counts_.closed && counts_.opened <= server.accepted &&
          server.accepted <= counts_.connections,
      fmt::format("{} clients, {} accepted; callbacks: {} opened, {} closed", counts_.connections,
                  server.accepted, counts_.opened, counts_.closed));
  verdict.require(
      server.traffic.messages_received == counts_.received &&
          server.traffic.messages_sent == counts_.sent &&
          server.traffic.bytes_sent >= counts_.bytes,
      fmt::format("counters: {} in, {} out, {} bytes; callbacks: {} in, {} out, {} bytes",
                  server.traffic.messages_received, server.traffic.messages_sent,
                  server.traffic.bytes_sent, counts_.received, counts_.sent, counts_.bytes));
}

int soak(std::chrono::seconds length, std::uint64_t seed) {
  const Sample idle = fermata::soak::sample();
  Verdict verdict;
  Sample settled;
  Sample last;
  int samples = 0;
  {
    EchoLoad load(seed);
    load.run(length, [&](const Counts& counts) {
      last = fermata::soak::sample();
      if (++samples <= kSamples / 4) settled.memory = std::max(settled.memory, last.memory);
      fmt::print("{:>6} KiB  {:>3} descriptors  {:>8} messages  {:>7} connections  {:>6}+{} cuts\n",
                 last.memory / 1024, last.descriptors, counts.exchanges, counts.connections,
                 counts.server_cuts, counts.client_cuts);
      std::fflush(stdout);
    });
    load.check(verdict);
  }
  fermata::delay(100ms);
  const Sample left = fermata::soak::sample();
  verdict.require(
      last.memory <= settled.memory + kKept,
      fmt::format("memory has grown from {} to {} KiB", settled.memory / 1024, last.memory / 1024));
  verdict.require(left.descriptors <= idle.descriptors + kKeptDescriptors,
                  fmt::format("{} descriptors are left of {}", left.descriptors, idle.descriptors));
  return verdict.exit_code();
}

std::vector<std::string_view> drivers_of(std::string_view which) {
  if (which != "all") return {fermata::loop::driver(which).name};
  std::vector<std::string_view> names;
  for (const auto& driver : fermata::loop::drivers()) {
    if (!driver.on_request_only) names.push_back(driver.name);
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view which = argc > 1 ? argv[1] : "";
  if (which == "--list" && argc == 2) {
    for (const auto name : drivers_of("all")) fmt::print("{}\n", name);
    return 0;
  }
  const auto seconds = argc > 2 ? fermata::soak::number(argv[2]) : 10;
  const auto seed = argc > 3 ? fermata::soak::number(argv[3]) : 1;
  if (argc < 2 || argc > 4 || !seconds || *seconds == 0 || !seed) {
    fmt::print(stderr,
               "usage: {} DRIVER|all [SECONDS [SEED]]\n       {} --list\n"
               "SECONDS is a whole number from 1, SEED one from 0\n",
               argv[0], argv[0]);
    return 2;
  }
  try {
    int code = 0;
    for (const auto name : drivers_of(which)) {
      fmt::print("{}:\n", name);
      fermata::Runtime runtime(fermata::loop::make_reactor(name));
      code |= runtime.run([&] { return soak(std::chrono::seconds(*seconds), *seed); });
    }
    return code;
  } catch (const fermata::UsageError& error) {
    fmt::print(stderr, "fermata_loop_soak: {}\n", error.what());
    return 2;
  }
}
