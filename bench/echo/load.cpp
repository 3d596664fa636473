// SPDX-License-Identifier: Apache-2.0

// A closed loop over N connections to 127.0.0.1: each sends 64 bytes, waits for them to come back,
// checks them and sends the next. Bounded in time and in requests. One line of JSON tells the rate.
//
// usage: bench_load PORT CONNECTIONS SECONDS

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMessageBytes = 64;
constexpr std::uint64_t kRequestsMax = 10'000'000;
constexpr double kSecondsMax = 60;
constexpr double kWarmUpShare = 0.2;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

class Connection final {
 public:
  Connection(std::uint16_t port, std::uint64_t number) : number_(number) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    descriptor_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    require(connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
            "connect");
    setsockopt(descriptor_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  int descriptor() const { return descriptor_; }

  void send_next() {
    ++serial_;
    std::memcpy(sent_.data(), &serial_, sizeof serial_);
    std::memcpy(sent_.data() + sizeof serial_, &number_, sizeof number_);
    received_ = 0;
    sent_at_ = Clock::now();
    require(write(descriptor_, sent_.data(), kMessageBytes) == kMessageBytes, "write");
  }

  /// Reads what has come; true when the message is back, whole and unchanged.
  bool receive() {
    std::array<char, kMessageBytes> echo;
    const ssize_t size = read(descriptor_, echo.data(), kMessageBytes - received_);
    require(size > 0, "read");
    require(std::memcmp(echo.data(), sent_.data() + received_, static_cast<std::size_t>(size)) == 0,
            "the echo differs");
    received_ += static_cast<std::size_t>(size);
    return received_ == kMessageBytes;
  }

  std::chrono::nanoseconds latency(Clock::time_point now) const { return now - sent_at_; }

 private:
  int descriptor_ = -1;
  std::uint64_t number_;
  std::uint64_t serial_ = 0;
  std::size_t received_ = 0;
  std::array<char, kMessageBytes> sent_{};
  Clock::time_point sent_at_;
};

/// Counts by microsecond; what takes longer than the last bucket is counted there.
class Latencies final {
 public:
  void add(std::chrono::nanoseconds latency) {
    const auto microseconds = static_cast<std::size_t>(latency.count() / 1'000);
    ++buckets_[std::min(microseconds, buckets_.size() - 1)];
    ++count_;
  }

  std::uint64_t count() const { return count_; }

  std::size_t percentile(std::uint64_t percent) const {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      below += buckets_[i];
      if (below * 100 >= count_ * percent) return i;
    }
    return buckets_.size();
  }

 private:
  std::vector<std::uint64_t> buckets_ = std::vector<std::uint64_t>(100'000);
  std::uint64_t count_ = 0;
};

void drive(std::vector<Connection>& connections, int poller, Clock::time_point end,
           Latencies& latencies) {
  std::array<epoll_event, 1024> events;
  auto now = Clock::now();
  while (now < end && latencies.count() < kRequestsMax) {
    const int ready = epoll_wait(poller, events.data(), static_cast<int>(events.size()), 1'000);
    now = Clock::now();
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections[events[static_cast<std::size_t>(i)].data.u64];
      if (!connection.receive()) continue;
      latencies.add(connection.latency(now));
      connection.send_next();
    }
  }
}

void run(std::uint16_t port, std::size_t count, double seconds) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  std::vector<Connection> connections;
  for (std::size_t i = 0; i < count; ++i) {
    connections.emplace_back(port, i);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = i;
    epoll_ctl(poller, EPOLL_CTL_ADD, connections.back().descriptor(), &event);
  }
  for (Connection& connection : connections) connection.send_next();

  const auto length = [](double s) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
  };
  Latencies warm_up;
  drive(connections, poller, Clock::now() + length(seconds * kWarmUpShare), warm_up);
  Latencies measured;
  const auto start = Clock::now();
  drive(connections, poller, start + length(seconds), measured);
  const std::chrono::duration<double> took = Clock::now() - start;
  fmt::print(
      "{{\"requests\": {}, \"requests_per_second\": {:.0f}, \"p50_us\": {}, \"p99_us\": {}}}\n",
      warm_up.count() + measured.count(), static_cast<double>(measured.count()) / took.count(),
      measured.percentile(50), measured.percentile(99));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 4) throw std::runtime_error("usage: bench_load PORT CONNECTIONS SECONDS");
    const double seconds = std::stod(argv[3]);
    if (seconds <= 0 || seconds > kSecondsMax) throw std::runtime_error("SECONDS is in (0, 60]");
    run(static_cast<std::uint16_t>(std::stoul(argv[1])), std::stoul(argv[2]), seconds);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_load: {}\n", error.what());
    return 1;
  }
  return 0;
}
