// SPDX-License-Identifier: Apache-2.0

// Channels and streams: the next one gets what the interrupted one has not taken.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "properties/models/byte_way_model.hpp"
#include "properties/sweeps/programs.hpp"

namespace fermata::properties::sweeps {
namespace {

/// Two send three values each through a channel, two receive; the ledger knows every value.
class ChannelLedger {
 public:
  explicit ChannelLedger(std::size_t capacity) : capacity_(capacity) {}

  void run() {
    sent_.clear();
    received_.clear();
    channel_ = Channel<int>("values", capacity_);
    std::vector<Coroutine<>> all;
    for (int sender = 0; sender < 2; ++sender) {
      all.push_back(spawn("sender " + std::to_string(sender), [this, sender] {
        for (int i = 0; i < 3; ++i) send(sender * 10 + i);
      }));
      all.push_back(spawn("receiver " + std::to_string(sender), [this] {
        for (int i = 0; i < 3; ++i) receive();
      }));
    }
    when_all_settled(all);
  }

  /// Another value goes through, behind all that were left.
  void pass_another() {
    constexpr int kAnother = 100;
    const auto sender = spawn("another sender", [this] { send(kAnother); });
    while (receive() != kAnother) {
    }
    await(sender);
  }

  void check() {
    while (const auto left = channel_.try_recv()) ++received_[*left];
    for (const auto& [value, count] : received_) {
      EXPECT_EQ(count, 1) << "CHAN-02 (ONCE): value " << value;
      EXPECT_EQ(sent_.count(value), 1u) << "CHAN-02 (ONCE): " << value << " was never offered";
    }
    for (const auto& [value, accepted] : sent_) {
      EXPECT_TRUE(!accepted || received_.count(value) == 1)
          << "CHAN-09 (WAKE): value " << value << " was lost";
    }
    EXPECT_EQ(channel_.info(), "Channel(capacity=" + std::to_string(capacity_) +
                                   ", receivers=0, senders=0, reserved=0/0)")
        << "G-04 (REF)";
  }

 private:
  void send(int value) {
    sent_[value] = false;
    channel_.send(value, kPatient);
    sent_[value] = true;
  }
  int receive() {
    const int value = channel_.recv(kPatient);
    ++received_[value];
    return value;
  }

  std::size_t capacity_;
  Channel<int> channel_;
  std::map<int, bool> sent_;  // Value -> whether it was accepted.
  std::map<int, int> received_;
};

void sweep_channel(sim::World& world, std::size_t capacity) {
  ChannelLedger ledger(capacity);
  world.sweep_cancellation([&] { ledger.run(); },
                           {.then = finds_all(world, "CHAN-09", [&] { ledger.pass_another(); }),
                            .check = [&] { ledger.check(); }});
}

}  // namespace

void rendezvous(sim::World& world) { sweep_channel(world, 0); }
void buffered_channel(sim::World& world) { sweep_channel(world, 1); }

void stream(sim::World& world) {
  world.heal();
  const Address here("127.0.0.1", 7777);
  auto listener = TcpListener::bind(here);
  auto writer = TcpStream::connect(here);
  auto reader = std::move(*listener.accept());
  models::ByteWayModel way(1);
  const auto complain = [](const models::Complaint& complaint) { EXPECT_EQ(complaint, ""); };
  const auto write = [&](std::size_t size) {
    const auto begun = way.begin(size, false);
    writer.write(way.bytes_of(begun), kPatient);
    complain(way.accepted(begun, size));
  };
  world.sweep_cancellation(
      [&] {
        const auto writing = spawn("writer", [&] {
          for (const std::size_t size : {5u, 2u, 5u}) write(size);
        });
        const auto reading = spawn("reader", [&] {
          std::array<std::byte, 6> buffer;
          for (int i = 0; i < 2; ++i) {
            reader.read_exact(buffer, kPatient);
            complain(way.received(buffer));
          }
        });
        when_all_settled({writing, reading});
      },
      {.then = finds_all(world, "IO-02", [&] {
         write(3);
         std::array<std::byte, 100> buffer;
         while (way.outstanding() > 0) {
           complain(way.received(std::span(buffer).first(reader.read(buffer, kPatient))));
         }
       })});
}

void readiness(sim::World& world) {
  world.heal();
  auto first = open_pipe();
  auto second = open_pipe();
  std::array<models::ByteWayModel, 2> ways = {models::ByteWayModel(1), models::ByteWayModel(2)};
  const std::array<PipeStream*, 2> writers = {&first.writer, &second.writer};
  const std::array<ByteStream*, 2> readers = {&first.reader, &second.reader};
  const auto complain = [](const models::Complaint& complaint) { EXPECT_EQ(complaint, ""); };
  const auto write = [&](std::size_t at, std::size_t size) {
    const auto begun = ways[at].begin(size, false);
    writers[at]->write(ways[at].bytes_of(begun), kPatient);
    complain(ways[at].accepted(begun, size));
  };
  const auto read_one = [&] {
    std::array<std::byte, 3> buffer;
    const std::size_t at = await_any_readable(readers, kPatient);
    const std::size_t size = readers[at]->read(buffer, {.timeout = Duration::zero()});
    complain(ways[at].received(std::span(buffer).first(size)));
  };
  world.sweep_cancellation(
      [&] {
        const auto writing = spawn("writer", [&] {
          for (const std::size_t at : {1u, 0u, 1u}) write(at, 4);
        });
        const auto reading = spawn("reader", [&] {
          for (int i = 0; i < 4; ++i) read_one();
        });
        when_all_settled({writing, reading});
      },
      {.then = finds_all(world, "IO-02", [&] {
         for (const std::size_t at : {0u, 1u}) write(at, 3);
         while (ways[0].outstanding() + ways[1].outstanding() > 0) read_one();
       })});
}

}  // namespace fermata::properties::sweeps
