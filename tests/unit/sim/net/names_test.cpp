// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/tcp.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// A world of "app", which runs `main`, and "db", which accepts one connection at port 5432.
class NamesTest : public test::OneWorldFixture {
 protected:
  NamesTest() : OneWorldFixture("fifo") {}

  void run(const std::function<void(World&)>& main, FaultSet faults = FaultSet::none(),
           std::uint64_t seed = 1) {
    begin(faults, seed);
    world_.node("app", [&] { main(world_); });
    world_.service("db", [] {
      TcpListener listener = TcpListener::bind({"0.0.0.0", 5432});
      while (listener.accept()) {
      }
    });
    finish();
  }
};

/// Why `host` has no address; nothing when it has one.
std::optional<NameFailure> failure_of(std::string_view host) {
  try {
    (void)resolve(host);
  } catch (const DnsError& error) {
    return error.reason();
  }
  return std::nullopt;
}

TEST_F(NamesTest, ANodeGoesByItsName) {
  run([](World& world) {
    const Address db = world.node("db").address(5432);
    EXPECT_EQ(resolve("db", "postgresql"), std::vector<Address>{db});
    EXPECT_EQ(reverse_resolve(db), (HostName{"db", "postgresql"}));
    EXPECT_EQ(TcpStream::connect("db", 5432).peer_address(), db);
    EXPECT_EQ(resolve("localhost", "80"), std::vector<Address>{Address("127.0.0.1", 80)});
  });
}

TEST_F(NamesTest, AHostMayHaveAddressesOfBothVersions) {
  begin(FaultSet::none(), 1);
  world_.node("app", [&] {
    const Address db = world_.node("db").address_v6(5432);
    EXPECT_EQ(db, Address("fd00::a00:2", 5432));
    EXPECT_EQ(reverse_resolve(db), (HostName{"db", "postgresql"}));
    const std::array<Address, 2> both = {db, world_.node("db").address(0)};
    world_.set_addresses("store.example", both);
    EXPECT_EQ(resolve("store.example", "5432").front(), db);
    const TcpStream stream = TcpStream::connect("store.example", 5432);
    EXPECT_EQ(stream.peer_address(), db);
    EXPECT_EQ(stream.local_address().ip_text(), "fd00::a00:1");
  });
  world_.service("db", [] {
    TcpListener listener = TcpListener::bind({"::", 5432});
    const auto peer = listener.accept();
    EXPECT_EQ(peer->peer_address().ip_text(), "fd00::a00:1");
    while (listener.accept()) {
    }
  });
  finish();
}

TEST_F(NamesTest, NoMachineHasAForeignAddressOfVersionSix) {
  run([](World&) {
    EXPECT_EQ(test::error_of([] { (void)TcpStream::connect(Address("2001:db8::1", 80)); }),
              "connect to [2001:db8::1]:80: No route to host");
    EXPECT_EQ(test::error_of([] { (void)TcpListener::bind(Address("fd00::a00:7", 80)); }),
              "listen at [fd00::a00:7]:80: Cannot assign requested address");
  });
}

TEST_F(NamesTest, AHostThatNobodyKnowsIsNotFound) {
  run([](World&) {
    EXPECT_EQ(failure_of("nowhere.example"), NameFailure::NotFound);
    EXPECT_EQ(reverse_resolve(Address("192.0.2.1", 80)), (HostName{"192.0.2.1", "http"}));
  });
}

TEST_F(NamesTest, WhatIsSaidOfAHostHoldsFromThenOn) {
  run([](World& world) {
    const std::array<Address, 2> two = {Address("192.0.2.1", 0), Address("192.0.2.2", 0)};
    world.set_addresses("store.example", two);
    EXPECT_EQ(resolve("store.example", "80"),
              (std::vector<Address>{Address("192.0.2.1", 80), Address("192.0.2.2", 80)}));
    EXPECT_EQ(reverse_resolve(Address("192.0.2.2", 80)), (HostName{"store.example", "http"}));
    world.set_addresses("db", {});
    EXPECT_EQ(failure_of("db"), NameFailure::NotFound);
  });
}

TEST_F(NamesTest, WhatIsSaidIsForgottenWithTheRun) {
  run([](World& world) { world.set_addresses("db", {}); });
  run([](World&) { EXPECT_EQ(failure_of("db"), std::nullopt); });
}

TEST_F(NamesTest, AConnectTriesEachAddressInTurn) {
  run([](World& world) {
    const Address db = world.node("db").address(0);
    const std::array<Address, 3> all = {Address("192.0.2.1", 0), db, Address("192.0.2.2", 0)};
    world.set_addresses("store.example", all);
    const TcpStream stream = TcpStream::connect("store.example", 5432);
    EXPECT_EQ(stream.peer_address().ip_text(), db.ip_text());
    const std::array<Address, 2> none = {Address("192.0.2.1", 0), Address("192.0.2.2", 0)};
    world.set_addresses("store.example", none);
    try {
      (void)TcpStream::connect("store.example", 5432);
      ADD_FAILURE() << "expected an error";
    } catch (const InputOutputError& error) {
      EXPECT_STREQ(error.what(), "connect to 192.0.2.2:5432: No route to host");
    }
  });
}

TEST_F(NamesTest, TheServiceMayFailOrBeSlow) {
  FERMATA_CHECKS("DNS-01");
  FaultSet faults = FaultSet::none();
  faults.add(Fault::DnsFailure);
  faults.add(Fault::DnsDelay);
  int failed = 0;
  int slow = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    run(
        [&](World&) {
          for (int i = 0; i < 5; ++i) {
            const Instant asked = now();
            const auto failure = failure_of("db");
            EXPECT_EQ(failure.value_or(NameFailure::TryAgain), NameFailure::TryAgain);
            failed += failure ? 1 : 0;
            slow += now() - asked > 1ms ? 1 : 0;
            EXPECT_EQ(failure_of("localhost"), std::nullopt);
          }
        },
        faults, seed);
  }
  EXPECT_GT(failed, 10);
  EXPECT_LT(failed, 900);
  EXPECT_GT(slow, 10);
}

}  // namespace
}  // namespace fermata::sim
