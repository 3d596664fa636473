// SPDX-License-Identifier: Apache-2.0

// The echo server, unchanged, in a simulated network that delays, cuts up and breaks what it
// carries. A ledger for each client compares every byte that comes back with the one that was sent.

#include <algorithm>
#include <cstdio>
#include <fermata/sim.hpp>
#include <fermata/sim/run/explore.hpp>
#include <span>
#include <string>
#include <vector>

#include "examples/echo/echo.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::TcpListener;
using fermata::TcpStream;

constexpr int kClients = 3;
constexpr std::size_t kMostBytes = 6'000;
constexpr std::size_t kMostAtOnce = 1'500;

/// What one client sends, and how much of it has come back.
class Ledger {
 public:
  Ledger(int client, std::size_t size) : bytes_(size) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes_[i] = static_cast<std::byte>((i * 31 + i / 251 + static_cast<std::size_t>(client)));
    }
  }

  [[nodiscard]] std::span<const std::byte> unsent() const {
    return std::span(bytes_).subspan(sent_);
  }
  void sent(std::size_t count) { sent_ += count; }

  /// False when these are not the bytes that were sent next.
  [[nodiscard]] bool returned(std::span<const std::byte> bytes) {
    if (bytes.size() > sent_ - returned_) return false;
    const auto expected = std::span(bytes_).subspan(returned_, bytes.size());
    returned_ += bytes.size();
    return std::equal(bytes.begin(), bytes.end(), expected.begin());
  }
  [[nodiscard]] bool balanced() const { return sent_ == bytes_.size() && returned_ == sent_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t sent_ = 0;
  std::size_t returned_ = 0;
};

void send_all(TcpStream& stream, Ledger& ledger) {
  while (!ledger.unsent().empty()) {
    const std::size_t size = 1 + fermata::random(kMostAtOnce);
    const auto piece = ledger.unsent().first(std::min(size, ledger.unsent().size()));
    ledger.sent(piece.size());
    stream.write(piece);
    if (fermata::random(4) == 0) fermata::delay(200us);
  }
  stream.shutdown_write();
}

/// Returns when everything has come back; throws when the connection breaks.
void check_what_returns(TcpStream& stream, Ledger& ledger) {
  std::vector<std::byte> buffer(kMostAtOnce);
  while (const std::size_t count = stream.read(buffer)) {
    ASSERT_TRUE(ledger.returned(std::span(buffer).first(count))) << "other bytes came back";
  }
  ASSERT_TRUE(ledger.balanced()) << "the stream ended before everything had come back";
}

void converse(int number) {
  auto stream = TcpStream::connect({"127.0.0.1", 7777}, {.timeout = 5s});
  Ledger ledger(number, 1 + fermata::random(kMostBytes));
  auto sender = fermata::spawn("sender", [&] {
    try {
      send_all(stream, ledger);
    } catch (const fermata::InputOutputError&) {
      // The reader finds the connection broken too.
    }
  });
  try {
    check_what_returns(stream, ledger);
  } catch (const fermata::InputOutputError&) {
  }
  stream.close();
  fermata::wait(*sender);
}

void client(int number) {
  try {
    converse(number);
  } catch (const fermata::InputOutputError&) {
    // Refused, or reset: nothing is owed to anybody.
  } catch (const fermata::Timeout&) {
  }
}

using Serve = void (*)(TcpListener&);

void run_clients_against(Serve serve) {
  auto listener = TcpListener::bind({"127.0.0.1", 7777});
  auto server = fermata::spawn("server", [&] { serve(listener); });
  std::vector<fermata::Coroutine<>> clients;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(fermata::spawn("client", [i] { client(i); }));
  }
  for (const auto& each : clients) fermata::wait(*each);
  listener.close();
  fermata::wait(*server);
}

/// The server with a mistake: it believes that what it wrote was accepted whole.
void serve_ignoring_short_writes(TcpListener& listener) {
  while (auto accepted = listener.accept()) {
    fermata::spawn("session", [peer = std::move(*accepted)]() mutable {
      std::vector<std::byte> buffer(1024);
      try {
        while (const std::size_t size = peer.read(buffer)) {
          static_cast<void>(peer.write_some(std::span(buffer).first(size)));
        }
      } catch (const fermata::InputOutputError&) {
      }
    });
  }
}

SIM_TEST(Echo, ReturnsEveryByteInOrder) { run_clients_against(&echo::serve); }

fermata::sim::ExploreResult explore_ten_thousand(Serve serve) {
  fermata::sim::ExploreOptions options;
  options.name = "EchoUnderFaults";
  options.runs = 10'000;
  return explore(options, [serve](fermata::sim::World&) { run_clients_against(serve); });
}

TEST(EchoUnderFaults, PassesTenThousandSchedulesThatMeetEveryFaultOfTcp) {
  constexpr std::uint64_t kLeast = 50;
  const auto result = explore_ten_thousand(&echo::serve);
  ASSERT_FALSE(result.found) << "run " << result.found->run << ": " << result.found->failure.message
                             << "\n"
                             << result.found->failure.explanation << result.found->output;
  std::printf("%llu schedules, %llu distinct; faults fired:\n",
              static_cast<unsigned long long>(result.runs),
              static_cast<unsigned long long>(result.distinct_runs));
  for (std::size_t i = 0; i <= static_cast<std::size_t>(fermata::sim::Fault::SlowClose); ++i) {
    const char* name = to_string(static_cast<fermata::sim::Fault>(i));
    std::printf("  %-12s %llu\n", name, static_cast<unsigned long long>(result.fault_counts[i]));
    EXPECT_GE(result.fault_counts[i], kLeast) << name;
  }
}

TEST(EchoUnderFaults, FindsAnIgnoredShortWrite) {
  const auto result = explore_ten_thousand(&serve_ignoring_short_writes);
  ASSERT_TRUE(result.found);
  EXPECT_EQ(result.found->failure.verdict, fermata::sim::Verdict::Safety);
  EXPECT_NE(result.found->failure.message.find("came back"), std::string::npos)
      << result.found->failure.message;
  std::printf("found in run %llu\n", static_cast<unsigned long long>(result.found->run));
}

}  // namespace
