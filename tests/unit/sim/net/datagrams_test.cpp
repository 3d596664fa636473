// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/datagrams.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sync/when_all.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::only;

/// What comes until it has been quiet for a second.
std::vector<std::string> receive_all(UdpSocket& socket) {
  std::vector<std::string> all;
  std::array<char, 2000> buffer;
  try {
    while (true) {
      const Datagram got =
          socket.receive(std::as_writable_bytes(std::span(buffer)), {.timeout = 1s});
      all.emplace_back(buffer.data(), got.size);
    }
  } catch (const Timeout&) {
    return all;
  }
}

std::vector<std::string> numbers(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back(std::to_string(i));
  return all;
}

class SimDatagramsTest : public test::OneWorldFixture {
 protected:
  /// What `count` numbered datagrams look like on another machine.
  std::vector<std::string> sent_across(int count, FaultSet faults, std::uint64_t seed) {
    begin(faults, seed);
    std::vector<std::string> got;
    const Address address = world_
                                .node("reader",
                                      [&] {
                                        auto socket = UdpSocket::bind({"0.0.0.0", 53});
                                        got = receive_all(socket);
                                      })
                                .address(53);
    world_.node("writer", [&] {
      delay(1ms);
      auto socket = UdpSocket::bind({"0.0.0.0", 0});
      for (const std::string& number : numbers(count)) {
        socket.send_to(number, address);
        delay(30us);
      }
    });
    finish();
    return got;
  }
};

TEST_F(SimDatagramsTest, CrossesTheNetworkInOrderWhenItIsCalm) {
  FERMATA_CHECKS("IO-13");
  EXPECT_EQ(sent_across(50, FaultSet::none(), 1), numbers(50));
}

TEST_F(SimDatagramsTest, DistanceTakesTime) {
  begin();
  Duration near{};
  Duration far{};
  const Address server =
      world_
          .service("server",
                   [] {
                     auto socket = UdpSocket::bind({"0.0.0.0", 7});
                     std::array<std::byte, 10> buffer;
                     while (true) {
                       const Datagram got = socket.receive(buffer);
                       socket.send_to(std::span(buffer).first(got.size), got.peer);
                     }
                   })
          .address(7);
  world_.node("client", [&] {
    delay(1ms);
    auto socket = UdpSocket::bind({"0.0.0.0", 0});
    const auto round_trip = [&](const Address& to) {
      const Instant start = now();
      socket.send_to("x", to);
      std::array<std::byte, 10> buffer;
      socket.receive(buffer);
      return now() - start;
    };
    near = round_trip({"127.0.0.1", socket.local_address().port()});
    far = round_trip(server);
  });
  finish();
  EXPECT_EQ(near, 20us);
  EXPECT_EQ(far, 500us);
}

TEST_F(SimDatagramsTest, DelayAloneKeepsTheOrder) {
  std::uint64_t delays = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    EXPECT_EQ(sent_across(20, only(Fault::Delay), seed), numbers(20));
    delays += count(Fault::Delay);
  }
  EXPECT_GT(delays, 50u);
}

TEST_F(SimDatagramsTest, LossTakesSomeAndLeavesTheRest) {
  std::uint64_t lost = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto got = sent_across(20, only(Fault::DatagramLoss), seed);
    EXPECT_EQ(got.size() + count(Fault::DatagramLoss), 20u);
    EXPECT_TRUE(std::is_sorted(got.begin(), got.end(), [](const auto& a, const auto& b) {
      return std::stoi(a) < std::stoi(b);
    }));
    lost += count(Fault::DatagramLoss);
  }
  EXPECT_GT(lost, 50u);
}

TEST_F(SimDatagramsTest, DuplicatesComeLaterAndNothingIsMissing) {
  std::uint64_t duplicates = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    auto got = sent_across(20, only(Fault::DatagramDuplicate), seed);
    EXPECT_EQ(got.size(), 20u + count(Fault::DatagramDuplicate));
    auto firsts = got;
    for (auto it = firsts.begin(); it != firsts.end(); ++it) {
      firsts.erase(std::remove(it + 1, firsts.end(), *it), firsts.end());
    }
    EXPECT_EQ(firsts, numbers(20));
    duplicates += count(Fault::DatagramDuplicate);
  }
  EXPECT_GT(duplicates, 50u);
}

TEST_F(SimDatagramsTest, ReorderedOnesAreOvertakenAndAllArrive) {
  int disordered = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto got = sent_across(20, only(Fault::DatagramReorder), seed);
    const auto all = numbers(20);
    EXPECT_TRUE(std::is_permutation(got.begin(), got.end(), all.begin(), all.end()));
    disordered += got == all ? 0 : 1;
  }
  EXPECT_GT(disordered, 10);
}

TEST_F(SimDatagramsTest, OneSeedIsOneRun) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto got = sent_across(30, FaultSet::all(), seed);
    const std::uint64_t hash = world_.trace_hash();
    EXPECT_EQ(sent_across(30, FaultSet::all(), seed), got);
    EXPECT_EQ(world_.trace_hash(), hash);
  }
}

TEST_F(SimDatagramsTest, SendingMayHaveToWait) {
  std::uint64_t waits = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    EXPECT_EQ(sent_across(20, only(Fault::ShortWrite), seed), numbers(20));
    waits += count(Fault::ShortWrite);
  }
  EXPECT_GT(waits, 20u);
}

TEST_F(SimDatagramsTest, AFullBufferDropsWhatComes) {
  begin();
  world_.node("main", [] {
    auto reader = UdpSocket::bind({"127.0.0.1", 53});
    auto writer = UdpSocket::bind({"127.0.0.1", 0});
    const std::string data(1000, 'x');
    for (int i = 0; i < 500; ++i) writer.send_to(data, {"127.0.0.1", 53});
    delay(1ms);
    const auto room =
        std::size_t{detail::DatagramEnd::kBuffer} / (data.size() + detail::DatagramEnd::kOverhead);
    EXPECT_EQ(receive_all(reader).size(), room);
    writer.send_to("there is room again", {"127.0.0.1", 53});
    EXPECT_EQ(receive_all(reader).size(), 1u);
  });
  finish();
}

TEST_F(SimDatagramsTest, AReaderThatComesWhileItIsUnderWayGetsIt) {
  begin();
  world_.node("main", [] {
    auto writer = UdpSocket::bind({"127.0.0.1", 0});
    writer.send_to("in time", {"127.0.0.1", 53});
    auto reader = UdpSocket::bind({"127.0.0.1", 53});
    EXPECT_EQ(receive_all(reader), std::vector<std::string>{"in time"});
  });
  finish();
}

TEST_F(SimDatagramsTest, NobodyAndNoMachineAreSilence) {
  begin();
  world_.node("main", [] {
    auto socket = UdpSocket::bind({"0.0.0.0", 0});
    socket.send_to("x", {"127.0.0.1", 1});
    socket.send_to("x", {"192.0.2.1", 1});
    EXPECT_TRUE(receive_all(socket).empty());
  });
  finish();
}

TEST_F(SimDatagramsTest, AMachineMayEndWhileDatagramsAreUnderWayToIt) {
  begin();
  std::vector<std::string> steps;
  const auto brief = [&] {
    auto socket = UdpSocket::bind({"0.0.0.0", 53});
    std::array<std::byte, 1> buffer;
    EXPECT_THROW(static_cast<void>(socket.receive(buffer, {.timeout = 1ms})), Timeout);
    steps.emplace_back("ends");
  };
  const Address address = world_.node("brief", brief).address(53);
  world_.node("main", [&] {
    delay(990us);
    auto socket = UdpSocket::bind({"0.0.0.0", 0});
    socket.send_to("x", address);
    steps.emplace_back("sent");
    delay(1s);
    socket.send_to("x", address);
    steps.emplace_back("sent to nobody");
  });
  finish();
  EXPECT_EQ(steps, (std::vector<std::string>{"sent", "ends", "sent to nobody"}));
}

TEST_F(SimDatagramsTest, LoopbackDoesNotLeaveTheMachine) {
  begin();
  bool heard = false;
  const Address address = world_
                              .node("other",
                                    [&] {
                                      auto socket = UdpSocket::bind({"127.0.0.1", 53});
                                      heard = !receive_all(socket).empty();
                                    })
                              .address(53);
  world_.node("main", [&] {
    delay(1ms);
    auto wide = UdpSocket::bind({"0.0.0.0", 0});
    wide.send_to("x", address);
    auto narrow = UdpSocket::bind({"127.0.0.1", 0});
    try {
      narrow.send_to("x", address);
      ADD_FAILURE() << "sent";
    } catch (const InputOutputError& error) {
      EXPECT_EQ(error.code(), EINVAL);
    }
  });
  finish();
  EXPECT_FALSE(heard);
}

TEST_F(SimDatagramsTest, PortsOfUdpAndTcpAreDifferentThings) {
  begin();
  world_.node("main", [] {
    const auto listener = TcpListener::bind({"127.0.0.1", 80});
    const auto first = UdpSocket::bind({"127.0.0.1", 80});
    const auto other = UdpSocket::bind({"127.0.0.2", 80});
    EXPECT_THROW(static_cast<void>(UdpSocket::bind({"0.0.0.0", 80})), InputOutputError);
  });
  finish();
}

TEST_F(SimDatagramsTest, TheAddressItselfGoesBeforeAny) {
  begin();
  world_.node("main", [] {
    auto exact = UdpSocket::bind({"127.0.0.1", 80}, {.reuse_address = true});
    auto any = UdpSocket::bind({"0.0.0.0", 80}, {.reuse_address = true});
    any.send_to("x", {"127.0.0.1", 80});
    any.send_to("y", {"127.0.0.2", 80});
    EXPECT_EQ(receive_all(exact), std::vector<std::string>{"x"});
    EXPECT_EQ(receive_all(any), std::vector<std::string>{"y"});
  });
  finish();
}

TEST_F(SimDatagramsTest, AGroupHasItsMembersOnEveryMachine) {
  begin();
  std::vector<std::string> heard;
  for (const std::string name : {"a", "b", "stranger"}) {
    world_.node(name, [&heard, name] {
      auto socket = UdpSocket::bind({"0.0.0.0", 5000});
      if (name != "stranger") socket.join("239.0.0.1");
      for (const std::string& text : receive_all(socket)) heard.push_back(name + " " + text);
    });
  }
  world_.node("sender", [] {
    delay(1ms);
    const Address group("239.0.0.1", 5000);
    auto socket = UdpSocket::bind({"0.0.0.0", 5000});
    socket.join("239.0.0.1");
    socket.send_to("all", group);
    EXPECT_EQ(receive_all(socket), std::vector<std::string>{"all"});
    UdpSocket::bind({"0.0.0.0", 0}, {.multicast_loop = false}).send_to("others", group);
    UdpSocket::bind({"0.0.0.0", 0}, {.multicast_ttl = 0}).send_to("own machine", group);
    EXPECT_EQ(receive_all(socket), std::vector<std::string>{"own machine"});
  });
  finish();
  std::sort(heard.begin(), heard.end());
  EXPECT_EQ(heard, (std::vector<std::string>{"a all", "b all"}));
}

TEST_F(SimDatagramsTest, ABroadcastReachesEveryMachine) {
  begin();
  int heard = 0;
  for (const char* name : {"a", "b"}) {
    world_.node(name, [&] {
      auto socket = UdpSocket::bind({"0.0.0.0", 67});
      heard += static_cast<int>(receive_all(socket).size());
    });
  }
  world_.node("sender", [] {
    delay(1ms);
    auto socket = UdpSocket::bind({"0.0.0.0", 0}, {.broadcast = true});
    socket.send_to("who is there?", {"255.255.255.255", 67});
  });
  finish();
  EXPECT_EQ(heard, 2);
}

TEST_F(SimDatagramsTest, CloseIsAcknowledgedLaterAndLeavesNothing) {
  FERMATA_CHECKS("CLOSE-03");
  std::uint64_t slow = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    begin(only(Fault::SlowClose), seed);
    world_.node("main", [] {
      for (int i = 0; i < 5; ++i) {
        auto socket = UdpSocket::bind({"127.0.0.1", 53});
        socket.send_to("on its way", {"127.0.0.1", 53});
      }
    });
    finish();
    slow += count(Fault::SlowClose);
  }
  EXPECT_GT(slow, 10u);
}

TEST_F(SimDatagramsTest, ReadersThatAreInterruptedAnywhereLoseNothing) {
  FERMATA_CHECKS("IO-01", "IO-07", "IO-13");
  begin();
  SweepCounts counts;
  world_.node("main", [&] {
    auto socket = UdpSocket::bind({"127.0.0.1", 53});
    std::vector<std::string> got;
    counts = world_.sweep_cancellation(
        [&] {
          for (const std::string& number : numbers(3)) {
            socket.try_send_to(number, socket.local_address());
          }
          std::vector<Coroutine<>> readers;
          for (int i = 0; i < 3; ++i) {
            readers.push_back(spawn("reader", [&] {
              std::array<char, 10> buffer;
              const auto bytes = std::as_writable_bytes(std::span(buffer));
              const Datagram datagram = socket.receive(bytes, {.timeout = 5s});
              got.emplace_back(buffer.data(), datagram.size);
            }));
          }
          when_all_settled(readers);
        },
        {.then =
             [&] {
               for (const std::string& left : receive_all(socket)) got.push_back(left);
             },
         .check =
             [&] {
               std::sort(got.begin(), got.end());
               EXPECT_EQ(std::exchange(got, {}), numbers(3));
             }});
  });
  finish();
  EXPECT_GT(counts.cancellations, 3u);
  EXPECT_GT(counts.late_cancellations, 3u);
  EXPECT_GT(counts.timeouts, 2u);
}

TEST_F(SimDatagramsTest, AWorldThatOnlyWaitsForDatagramsIsStalled) {
  begin();
  world_.node("main", [] {
    auto socket = UdpSocket::bind({"127.0.0.1", 53});
    std::array<std::byte, 10> buffer;
    socket.receive(buffer);
  });
  world_.run();
  ASSERT_TRUE(world_.failure());
  EXPECT_EQ(world_.failure()->verdict, Verdict::Liveness);
  EXPECT_NE(world_.failure()->explanation.find("(receive)"), std::string::npos)
      << world_.failure()->explanation;
}

}  // namespace
}  // namespace fermata::sim
