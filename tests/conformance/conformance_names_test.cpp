// SPDX-License-Identifier: Apache-2.0

// Questions that a machine answers without a network, so that they have the same answer everywhere.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/tcp.hpp"
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
class NamesTest : public ::testing::Test {};
TYPED_TEST_SUITE(NamesTest, OrderedArms);

backend::Names& names() { return current_runtime().reactor().names(); }

MAIN_TYPED_TEST(NamesTest, AHostInFiguresIsItself) {
  FERMATA_CHECKS("DNS-01");
  EXPECT_EQ(resolve("127.0.0.1", "8080"), std::vector<Address>{Address("127.0.0.1", 8080)});
  EXPECT_EQ(resolve("192.0.2.7"), std::vector<Address>{Address("192.0.2.7", 0)});
}

MAIN_TYPED_TEST(NamesTest, AnAnswerNeverComesAtOnce) {
  FERMATA_CHECKS("DNS-01", "DNS-04");
  backend::NameRequest request(names(), "127.0.0.1", "80");
  EXPECT_FALSE(request.is_completed());
  int told = 0;
  const Subscription subscription =
      subscribe(request, [&](Event& event, const Outcome&) { told += event.is_closed() ? 1 : 2; });
  wait(request);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(request.take_addresses().size(), 1u);
}

MAIN_TYPED_TEST(NamesTest, AnUnknownServiceSaysWhich) {
  try {
    (void)resolve("127.0.0.1", "no-such-service");
    ADD_FAILURE() << "expected an error";
  } catch (const DnsError& error) {
    EXPECT_EQ(error.reason(), NameFailure::UnknownService);
    EXPECT_STREQ(error.what(),
                 "DNS error: 127.0.0.1:no-such-service: Servname not supported for ai_socktype");
  }
}

MAIN_TYPED_TEST(NamesTest, AnAddressHasANameOrItsFigures) {
  const HostName name = reverse_resolve(Address("127.0.0.1", 50'123));
  EXPECT_TRUE(name.host == "localhost" || name.host == "127.0.0.1") << name.host;
  EXPECT_EQ(name.service, "50123");
}

MAIN_TYPED_TEST(NamesTest, AQuestionThatWasGivenUpIsAnsweredToNobody) {
  FERMATA_CHECKS("DNS-02", "DNS-03");
  int told = 0;
  {
    std::optional<backend::NameRequest> request(std::in_place, names(), "127.0.0.1", "80");
    const Subscription subscription = subscribe(*request, [&](Event&, const Outcome&) { ++told; });
    request.reset();
  }
  EXPECT_THROW((void)resolve("127.0.0.1", "80", {.timeout = 0ms}), Timeout);
  auto asker = spawn("asker", [] { return resolve("127.0.0.1", "80").size(); });
  suspend();
  asker.cancel();
  EXPECT_THROW((void)await(asker), Cancellation);
  EXPECT_EQ(resolve("127.0.0.1", "80").size(), 1u);
  EXPECT_EQ(told, 0);
}

TYPED_TEST(NamesTest, AQuestionInFlightDoesNotOutliveTheRun) {
  FERMATA_CHECKS("DNS-02");
  int told = 0;
  TypeParam::run([&] {
    backend::NameRequest request(names(), "127.0.0.1", "80");
    const Subscription subscription = subscribe(request, [&](Event&, const Outcome&) { ++told; });
  });
  EXPECT_EQ(told, 0);
}

MAIN_TYPED_TEST(NamesTest, WhatCannotBeAHostIsTheCallersMistake) {
  EXPECT_EQ(error_of([] { (void)resolve(""); }),
            "resolve: host '' of 0 bytes: expected 1 to 255 bytes");
  const std::string longest(256, 'x');
  EXPECT_EQ(error_of([&] { (void)resolve(longest); }),
            "resolve: host '" + longest + "' of 256 bytes: expected 1 to 255 bytes");
  EXPECT_EQ(error_of([] { (void)resolve(std::string_view("a\0b", 3)); }),
            "resolve: host 'a': expected no NUL, there is one at 1");
  EXPECT_EQ(error_of([] { (void)resolve("a", std::string_view("8\0", 2)); }),
            "resolve: service '8': expected no NUL, there is one at 1");
}

MAIN_TYPED_TEST(NamesTest, AConnectionCanBeAskedForByHost) {
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  const std::uint16_t port = listener.local_address().port();
  const TcpStream client = TcpStream::connect("127.0.0.1", port);
  EXPECT_EQ(client.peer_address(), listener.local_address());
  listener.close();
  delay(10ms);
  EXPECT_EQ(error_of([&] { (void)TcpStream::connect("127.0.0.1", port); }),
            "connect to 127.0.0.1:" + std::to_string(port) + ": Connection refused");
}

}  // namespace
}  // namespace fermata::conformance
