// SPDX-License-Identifier: Apache-2.0

// For `fermata debug`: a run of a hundred thousand steps in which one of them corrupts a field, by
// writing behind the end of the array before it, which is seen at the end of the run; two machines
// of which one waits for a message of the other; and a run that ends its process.

#include <chrono>
#include <cstdlib>
#include <fermata/io/udp.hpp>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>
#include <span>
#include <string>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr int kWorkers = 4;
constexpr int kRounds = 25'000;
constexpr int kSlots = 8;
constexpr int kBadTurn = 61'234;

struct Ledger {
  int turns = 0;  // Written in each step.
  int slots[kSlots] = {};
  int limit = 500;
  int warm_up = 0;  // Written in each step of the first half.
};

/// Writes as a careless interface does: nothing knows how long the array is.
[[gnu::noinline]] void put(int* slots, int index, int value) {
  slots[index] = value;  // The bug is seen here.
}

[[gnu::noinline]] void take_turn(Ledger& ledger) {
  const int turn = ++ledger.turns;
  const int index = turn == kBadTurn ? kSlots : turn % kSlots;
  put(ledger.slots, index, turn);
  if (turn <= kWorkers * kRounds / 2) ledger.warm_up = turn;
}

void work(Ledger& ledger) {
  for (int i = 0; i < kRounds; ++i) {
    take_turn(ledger);
    fermata::suspend();
  }
}

[[gnu::noinline]] void check(const Ledger& ledger) { EXPECT_EQ(ledger.limit, 500); }

SIM_TEST(Ledger, KeepsItsLimit) {
  Ledger ledger;
  std::vector<fermata::Coroutine<void>> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.push_back(fermata::spawn("worker", [&ledger] { work(ledger); }));
  }
  for (auto& worker : workers) fermata::await(worker);
  check(ledger);
}

/// Is not written at all.
volatile int untouched = 7;

[[gnu::noinline]] void unpack(const std::string& parcel) { EXPECT_EQ(parcel, "vase"); }

SIM_TEST(Parcel, ComesWhole) {
  const fermata::Address anybody("0.0.0.0", 7800);
  world.node("home", [anybody] {
    fermata::UdpSocket door = fermata::UdpSocket::bind(anybody);
    std::string parcel(100, '\0');
    const auto got = door.receive(std::as_writable_bytes(std::span(parcel)));
    unpack(parcel.substr(0, got.size) + std::to_string(untouched));
  });
  world.node("shop", [anybody, &world] {
    fermata::UdpSocket counter = fermata::UdpSocket::bind(anybody);
    fermata::delay(5ms);
    counter.send_to("vase", world.node("home").address(7800));
  });
  world.run();
}

SIM_TEST(Process, Dies) {
  fermata::suspend();
  std::abort();
}

}  // namespace
