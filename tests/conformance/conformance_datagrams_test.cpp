// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

template <class Arm>
class Datagrams : public ::testing::Test {};
TYPED_TEST_SUITE(Datagrams, OrderedArms);

constexpr const char* kGroup = "239.255.77.1";

UdpSocket open_socket(const DatagramOptions& options = {}) {
  return UdpSocket::bind({"127.0.0.1", 0}, options);
}

/// Members and senders of groups stay on the loopback interface: the machine may have no other.
const DatagramOptions kOnLoopback{.reuse_address = true,
                                  .multicast_interface = Address("127.0.0.1", 0)};

std::string receive_text(UdpSocket& socket, std::size_t max = 100,
                         const WaitOptions& options = {}) {
  std::string text(max, '\0');
  const Datagram got = socket.receive(std::as_writable_bytes(std::span(text)), options);
  text.resize(got.size);
  return text;
}

MAIN_TYPED_TEST(Datagrams, EachOneKeepsItsBoundaries) {
  FERMATA_CHECKS("IO-13");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  a.send_to("one", b.local_address());
  a.send_to("and two", b.local_address());
  std::array<std::byte, 100> buffer;
  const Datagram first = b.receive(buffer);
  EXPECT_EQ(first.size, 3u);
  EXPECT_EQ(first.peer, a.local_address());
  EXPECT_FALSE(first.truncated);
  EXPECT_EQ(receive_text(b), "and two");
  b.send_to("back", first.peer);
  EXPECT_EQ(receive_text(a), "back");
}

MAIN_TYPED_TEST(Datagrams, AnEmptyOneArrivesAndIsNoEnd) {
  FERMATA_CHECKS("IO-13");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  a.send_to("", b.local_address());
  a.send_to("more", b.local_address());
  std::array<std::byte, 8> buffer;
  const Datagram empty = b.receive(buffer);
  EXPECT_EQ(empty.size, 0u);
  EXPECT_EQ(empty.peer, a.local_address());
  EXPECT_FALSE(empty.truncated);
  EXPECT_EQ(receive_text(b), "more");
}

MAIN_TYPED_TEST(Datagrams, TheEndOfTheSenderIsNoEnd) {
  FERMATA_CHECKS("IO-13");
  UdpSocket b = open_socket();
  {
    UdpSocket a = open_socket();
    a.send_to("last", b.local_address());
  }
  EXPECT_EQ(receive_text(b), "last");
  EXPECT_EQ(error_of([&] { receive_text(b, 8, {.timeout = 5ms}); }),
            "Timeout occurred after 5 milliseconds");
}

MAIN_TYPED_TEST(Datagrams, OneThatIsLongerThanTheBufferSaysSo) {
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  a.send_to("abcdef", b.local_address());
  a.send_to("next", b.local_address());
  std::array<std::byte, 4> buffer;
  const Datagram first = b.receive(buffer);
  EXPECT_EQ(first.size, 4u);
  EXPECT_TRUE(first.truncated);
  EXPECT_EQ(buffer[3], std::byte{'d'});
  const Datagram second = b.receive(buffer);
  EXPECT_EQ(second.size, 4u);
  EXPECT_FALSE(second.truncated);
}

MAIN_TYPED_TEST(Datagrams, TheLongestArrivesWholeAndALongerOneIsRefused) {
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  std::string longest(kDatagramMax, 'x');
  longest.back() = '.';
  a.send_to(longest, b.local_address());
  EXPECT_EQ(receive_text(b, kDatagramMax), longest);
  const std::string longer(kDatagramMax + 1, 'x');
  const std::string refusal =
      "send to " + b.local_address().text() + ": a datagram of 65508 bytes, expected at most 65507";
  EXPECT_EQ(error_of([&] { a.send_to(longer, b.local_address()); }), refusal);
  EXPECT_EQ(error_of([&] { a.try_send_to(longer, b.local_address()); }), refusal);
}

MAIN_TYPED_TEST(Datagrams, ASocketMaySendToItself) {
  UdpSocket self = UdpSocket::bind({"0.0.0.0", 0});
  self.send_to("note", {"127.0.0.1", self.local_address().port()});
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(self.receive(buffer).peer, Address("127.0.0.1", self.local_address().port()));
}

MAIN_TYPED_TEST(Datagrams, WhatIsSentToTheZeroAddressComesToThisMachine) {
  UdpSocket here = open_socket();
  UdpSocket sender = UdpSocket::bind({"0.0.0.0", 0});
  sender.send_to("note", {"0.0.0.0", here.local_address().port()});
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(here.receive(buffer).peer, Address("127.0.0.1", sender.local_address().port()));
}

MAIN_TYPED_TEST(Datagrams, SendingAtOnceNeverWaits) {
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  EXPECT_TRUE(a.try_send_to("quick", b.local_address()));
  EXPECT_EQ(receive_text(b), "quick");
}

MAIN_TYPED_TEST(Datagrams, NobodyAtTheOtherEndIsNoError) {
  UdpSocket a = open_socket();
  Address gone;
  {
    UdpSocket b = open_socket();
    gone = b.local_address();
  }
  delay(5ms);
  a.send_to("anybody?", gone);
  delay(5ms);
  a.send_to("nobody.", gone);
  EXPECT_EQ(error_of([&] { receive_text(a, 8, {.timeout = 5ms}); }),
            "Timeout occurred after 5 milliseconds");
}

MAIN_TYPED_TEST(Datagrams, ReadersAreServedInOrderOneEach) {
  FERMATA_CHECKS("IO-01", "IO-13");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  std::vector<std::string> got(3);
  std::vector<Coroutine<>> readers;
  for (std::size_t i = 0; i < got.size(); ++i) {
    readers.push_back(spawn("reader", [&, i] { got[i] = receive_text(b); }));
  }
  suspend();
  for (const char* text : {"first", "second", "third"}) a.send_to(text, b.local_address());
  for (const auto& reader : readers) await(reader);
  EXPECT_EQ(got, (std::vector<std::string>{"first", "second", "third"}));
}

MAIN_TYPED_TEST(Datagrams, ManyComeInTheOrderInWhichTheyWereSent) {
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  constexpr int kCount = 60;
  for (int i = 0; i < kCount; ++i) a.send_to(std::to_string(i), b.local_address());
  delay(5ms);
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(receive_text(b), std::to_string(i));
}

MAIN_TYPED_TEST(Datagrams, AReceiveThatTimesOutLosesNothing) {
  FERMATA_CHECKS("IO-08", "IO-07");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  std::array<std::byte, 16> abandoned{};
  EXPECT_THROW(b.receive(abandoned, {.timeout = 2ms}), Timeout);
  a.send_to("kept", b.local_address());
  delay(5ms);
  EXPECT_EQ(abandoned[0], std::byte{0});
  EXPECT_EQ(receive_text(b), "kept");
}

MAIN_TYPED_TEST(Datagrams, OneThatACancelledReaderNeverTookGoesToTheNextWhole) {
  FERMATA_CHECKS("IO-13", "CORE-WK-13");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  backend::ReceiveRequest* parked = nullptr;
  auto reader = spawn("reader", [&] {
    std::array<std::byte, 4> buffer;
    backend::ReceiveRequest request(b.handle(), buffer);
    parked = &request;
    wait(request);
    request.take();
  });
  suspend();
  const Subscription after_its_wake =
      subscribe(*parked, [&](Event&, const Outcome&) { reader.cancel(); });
  a.send_to("one two", b.local_address());
  a.send_to("three", b.local_address());
  EXPECT_THROW(await(reader), Cancellation);
  EXPECT_EQ(receive_text(b), "one two");
  EXPECT_EQ(receive_text(b), "three");
}

MAIN_TYPED_TEST(Datagrams, ATokenThatHasFiredTakesNothing) {
  FERMATA_CHECKS("EVT-06");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  a.send_to("all", b.local_address());
  delay(5ms);
  Timer token(current_runtime(), 0ms);
  wait(token);
  EXPECT_THROW(receive_text(b, 8, {.token = &token}), OperationCancelled);
  EXPECT_THROW(a.send_to("never", b.local_address(), {.token = &token}), OperationCancelled);
  EXPECT_EQ(receive_text(b), "all");
  EXPECT_THROW(receive_text(b, 8, {.timeout = 2ms}), Timeout);
}

MAIN_TYPED_TEST(Datagrams, CloseWakesEveryReaderAndRefusesLaterOperations) {
  FERMATA_CHECKS("IO-06", "IO-01");
  UdpSocket socket = open_socket();
  const Address self = socket.local_address();
  std::vector<std::string> errors;
  std::vector<Coroutine<>> parked;
  for (int i = 0; i < 3; ++i) {
    parked.push_back(
        spawn("reader", [&] { errors.push_back(error_of([&] { receive_text(socket); })); }));
  }
  suspend();
  EXPECT_TRUE(errors.empty());
  socket.close();
  for (const auto& each : parked) await(each);
  EXPECT_EQ(errors, std::vector<std::string>(3, "Stream was closed"));
  EXPECT_EQ(error_of([&] { receive_text(socket); }), "Cannot read from closed IO handle");
  EXPECT_EQ(error_of([&] { socket.send_to("x", self); }), "Cannot write to closed IO handle");
  EXPECT_EQ(error_of([&] { socket.try_send_to("x", self); }), "Cannot write to closed IO handle");
  EXPECT_EQ(error_of([&] { socket.join(kGroup); }), "Cannot join a group with closed IO handle");
  EXPECT_FALSE(socket.is_open());
  socket.close();
}

MAIN_TYPED_TEST(Datagrams, AnIdleSocketIsNoActivity) {
  FERMATA_CHECKS("IO-15", "CORE-EV-01");
  UdpSocket a = open_socket();
  UdpSocket b = open_socket();
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  auto reader = spawn("reader", [&] { receive_text(b); });
  suspend();
  EXPECT_EQ(current_runtime().active_event_count(), 1u);
  a.send_to("x", b.local_address());
  await(reader);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TYPED_TEST(Datagrams, TheEndOfASocketInUseIsSafe) {
  FERMATA_CHECKS("CLOSE-02", "CLOSE-04", "CLOSE-09");
  UdpSocket a = open_socket();
  std::optional<UdpSocket> b = open_socket();
  std::array<std::byte, 8> buffer;
  backend::ReceiveRequest request(b->handle(), buffer);
  int told = 0;
  const Subscription subscription = subscribe(request, [&](Event&, const Outcome&) {
    ++told;
    b.reset();
  });
  a.send_to("one", b->local_address());
  a.send_to("two", b->local_address());
  delay(5ms);
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(request.is_completed());
}

MAIN_TYPED_TEST(Datagrams, APortBelongsToOneSocketUnlessAllShareIt) {
  UdpSocket first = open_socket();
  const Address address = first.local_address();
  EXPECT_NE(address.port(), 0);
  EXPECT_NE(open_socket().local_address().port(), 0);
  try {
    static_cast<void>(UdpSocket::bind(address));
    ADD_FAILURE() << "expected an error";
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), EADDRINUSE);
    EXPECT_EQ(error.what(), "bind " + address.text() + ": Address already in use");
  }
  EXPECT_THROW(static_cast<void>(UdpSocket::bind(address, {.reuse_address = true})),
               InputOutputError);
  first.close();
  delay(5ms);
  UdpSocket again = UdpSocket::bind(address, {.reuse_address = true});
  UdpSocket latest = UdpSocket::bind(address, {.reuse_address = true});
  again.send_to("who?", address);
  EXPECT_EQ(receive_text(latest), "who?");
}

MAIN_TYPED_TEST(Datagrams, AnAddressOfNobodyHereIsRefused) {
  EXPECT_EQ(error_of([] {
              static_cast<void>(UdpSocket::bind({"203.0.113.9", 0}));
            }),
            "bind 203.0.113.9:0: Cannot assign requested address");
  UdpSocket socket = open_socket();
  EXPECT_EQ(error_of([&] {
              socket.send_to("x", {"127.0.0.1", 0});
            }),
            "send to 127.0.0.1:0: expected a port other than 0");
  EXPECT_EQ(error_of([&] {
              socket.send_to("x", {"255.255.255.255", 9});
            }),
            "send to 255.255.255.255:9: Permission denied");
}

MAIN_TYPED_TEST(Datagrams, EveryMemberOfAGroupHearsWhatIsSentToIt) {
  UdpSocket a = UdpSocket::bind({"0.0.0.0", 0}, kOnLoopback);
  const std::uint16_t port = a.local_address().port();
  UdpSocket b = UdpSocket::bind({"0.0.0.0", port}, kOnLoopback);
  UdpSocket stranger = UdpSocket::bind({"0.0.0.0", port}, kOnLoopback);
  a.join(kGroup);
  b.join(kGroup);
  UdpSocket sender = open_socket(kOnLoopback);
  sender.send_to("all", {kGroup, port});
  EXPECT_EQ(receive_text(a), "all");
  EXPECT_EQ(receive_text(b), "all");
  b.leave(kGroup);
  sender.send_to("fewer", {kGroup, port});
  EXPECT_EQ(receive_text(a), "fewer");
  EXPECT_THROW(receive_text(b, 8, {.timeout = 5ms}), Timeout);
  EXPECT_THROW(receive_text(stranger, 8, {.timeout = 5ms}), Timeout);
}

MAIN_TYPED_TEST(Datagrams, TheLoopbackInterfaceBringsEverythingBack) {
  UdpSocket member = UdpSocket::bind({"0.0.0.0", 0}, kOnLoopback);
  member.join(kGroup);
  DatagramOptions quiet = kOnLoopback;
  quiet.multicast_loop = false;
  UdpSocket sender = open_socket(quiet);
  sender.send_to("back", {kGroup, member.local_address().port()});
  EXPECT_EQ(receive_text(member), "back");
}

MAIN_TYPED_TEST(Datagrams, MistakesWithGroupsAreNamed) {
  UdpSocket socket = UdpSocket::bind({"0.0.0.0", 0}, kOnLoopback);
  EXPECT_EQ(error_of([&] { socket.join("10.0.0.1"); }),
            "join '10.0.0.1': expected a multicast group, 224.0.0.0 to 239.255.255.255");
  EXPECT_EQ(error_of([&] { socket.leave(kGroup); }),
            "leave 239.255.77.1: Cannot assign requested address");
  socket.join(kGroup);
  EXPECT_EQ(error_of([&] { socket.join(kGroup); }), "join 239.255.77.1: Address already in use");
  EXPECT_EQ(error_of([] { static_cast<void>(open_socket({.multicast_ttl = 256})); }),
            "bind 127.0.0.1:0: multicast_ttl 256: expected 0 to 255");
  EXPECT_EQ(error_of([] {
              static_cast<void>(open_socket({.multicast_interface = {"203.0.113.9", 0}}));
            }),
            "bind 127.0.0.1:0: Cannot assign requested address");
}

MAIN_TYPED_TEST(Datagrams, AnEmptyBufferIsTheCallersMistake) {
  UdpSocket socket = open_socket();
  EXPECT_EQ(error_of([&] { socket.receive({}); }),
            "receive: expected a buffer of at least one byte");
}

MAIN_TYPED_TEST(Datagrams, AValueThatWasMovedFromSaysSo) {
  UdpSocket socket = open_socket();
  UdpSocket moved = std::move(socket);
  EXPECT_EQ(error_of([&] { socket.send_to("x", moved.local_address()); }),
            "handle: an empty value: expected one that was opened, and not moved from");
  EXPECT_FALSE(socket.is_open());
}

}  // namespace
}  // namespace fermata::conformance
