// SPDX-License-Identifier: Apache-2.0

// Simulated descriptors, and what may go wrong with them.

#include "fermata/sim/world/polls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/events.hpp"
#include "tests/support/faults.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::only;
using test::pattern;

constexpr std::uint64_t kSeeds = 60;
constexpr int kFirst = 3;  // Behind the standard streams.

/// What a program that copes with everything but a reset reads until the end.
std::string read_all(int descriptor) {
  Descriptor watched(descriptor);
  std::string all;
  std::vector<std::byte> buffer(1000);
  while (true) {
    const DescriptorTransfer read = descriptor_calls().read(descriptor, buffer);
    if (read.code == EAGAIN) {
      watched.wait_readable();
    } else if (read.code != EINTR) {
      if (read.code != 0) throw InputOutputError("read", read.code);
      if (read.size == 0) return all;
      all.append(reinterpret_cast<const char*>(buffer.data()), read.size);
    }
  }
}

void write_all(int descriptor, std::string_view text) {
  Descriptor watched(descriptor);
  while (!text.empty()) {
    const DescriptorTransfer written = descriptor_calls().write(descriptor, bytes_of(text));
    if (written.code == EAGAIN) {
      watched.wait_writable();
    } else if (written.code != EINTR && written.code != 0) {
      throw InputOutputError("write", written.code);
    }
    text.remove_prefix(written.size);
  }
}

class SimPolls : public test::WorldFixture {
 protected:
  static std::size_t piece(std::string_view text) {
    return std::min<std::size_t>(text.size(), 30'000);
  }

  /// Sends `text` through a pair; returns what was read, or the error of who was hit first.
  std::string sent_through(std::string_view text, FaultSet faults, std::uint64_t seed) {
    begin(seed, faults);
    std::string got;
    world_->node("main", [&] {
      backend::DescriptorCalls& calls = descriptor_calls();
      DescriptorPair ends;
      while (ends.first < 0) {
        try {
          ends = calls.open_pair();
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), EMFILE);
        }
      }
      auto writer = spawn("writer", [&] {
        try {
          for (std::string_view left = text; !left.empty(); left.remove_prefix(piece(left))) {
            write_all(ends.first, left.substr(0, piece(left)));
            delay(20us);
          }
        } catch (const InputOutputError&) {  // The reader is told.
        }
        calls.shut_down_writing(ends.first);
      });
      got = test::error_of([&] { got = read_all(ends.second); }) + ": " + got;
      await(writer);
      calls.close(ends.first);
      calls.close(ends.second);
    });
    run();
    hash_ = world_->trace_hash();
    return got;
  }
  [[nodiscard]] std::uint64_t count(Fault fault) const {
    return world_->fault_counts()[static_cast<std::size_t>(fault)];
  }

  std::uint64_t hash_ = 0;
};

TEST_F(SimPolls, NumbersAreTheLowestFreeOnesBehindTheStandardStreams) {
  world_->node("main", [] {
    backend::DescriptorCalls& calls = descriptor_calls();
    EXPECT_EQ(test::thrown_by([] { const Descriptor closed(9); }),
              "fermata::PollError: watch descriptor 9: Bad file descriptor");
    EXPECT_EQ(calls.close(9), EBADF);
    const DescriptorPair first = calls.open_pair();
    const DescriptorPair second = calls.open_pair();
    EXPECT_EQ(first.first, kFirst);
    EXPECT_EQ(second.second, kFirst + 3);
    calls.close(first.second);
    const int file = calls.open_file();
    EXPECT_EQ(file, kFirst + 1);
    for (int each = kFirst; each < kFirst + 4; ++each) EXPECT_EQ(calls.close(each), 0);
  });
  run();
}

TEST_F(SimPolls, EveryByteArrivesOnceUnderEveryFaultThatLosesNone) {
  FaultSet faults = FaultSet::all();
  faults.remove(Fault::Reset);
  const std::string text = pattern(300'000);
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(sent_through(text, faults, seed), "no error: " + text) << "seed " << seed;
  }
}

TEST_F(SimPolls, EachFaultStrikes) {
  const std::string text = pattern(200'000);
  for (const Fault fault : {Fault::ShortRead, Fault::ShortWrite, Fault::Interrupted,
                            Fault::SpuriousReadiness, Fault::OutOfDescriptors, Fault::Reset}) {
    std::uint64_t struck = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      sent_through(text, only(fault), seed);
      struck += count(fault);
    }
    EXPECT_GT(struck, 0u) << to_string(fault);
  }
}

TEST_F(SimPolls, AResetIsToldToTheOneWhoReads) {
  std::set<std::string> endings;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const std::string got = sent_through(pattern(100'000), only(Fault::Reset), seed);
    endings.insert(got.substr(0, got.find(": ")));
  }
  EXPECT_EQ(endings, (std::set<std::string>{"no error", "read"}));
}

TEST_F(SimPolls, TheSameSeedIsTheSameRun) {
  std::set<std::uint64_t> hashes;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string got = sent_through(pattern(100'000), FaultSet::all(), seed);
    const std::uint64_t hash = hash_;
    EXPECT_EQ(sent_through(pattern(100'000), FaultSet::all(), seed), got);
    EXPECT_EQ(hash_, hash);
    hashes.insert(hash);
  }
  EXPECT_GT(hashes.size(), 5u);
}

TEST_F(SimPolls, DescriptorsOfOneTurnAreToldInAnyOrder) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    begin(seed);
    std::string order;
    world_->node("main", [&] {
      backend::DescriptorCalls& calls = descriptor_calls();
      std::vector<DescriptorPair> pairs;
      std::vector<std::unique_ptr<backend::PollProxy>> proxies;
      std::vector<Subscription> told;
      for (const char* name : {"a", "b", "c"}) {
        const DescriptorPair& pair = pairs.emplace_back(calls.open_pair());
        const auto poll = current_runtime().reactor().polls().open(pair.first);
        proxies.push_back(std::make_unique<backend::PollProxy>(*poll, PollMask::Readable));
        backend::PollProxy& proxy = *proxies.back();
        told.push_back(subscribe(proxy, [&order, &proxy, name](Event&, const Outcome&) {
          order += name;
          proxy.stop();
        }));
        proxy.start();
      }
      for (const DescriptorPair& pair : pairs) calls.write(pair.second, bytes_of("x"));
      delay(1ms);
      proxies.clear();
      for (const DescriptorPair& pair : pairs) {
        calls.close(pair.first);
        calls.close(pair.second);
      }
    });
    run();
    orders.insert(order);
  }
  EXPECT_EQ(orders, (std::set<std::string>{"abc", "acb", "bac", "bca", "cab", "cba"}));
}

TEST_F(SimPolls, ASignalThatComesBeforeTheSleepEndsIt) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    begin(seed, FaultSet::all());
    world_->node("main", [&] {
      backend::DescriptorCalls& calls = descriptor_calls();
      const DescriptorPair ends = [&] {
        while (true) {
          try {
            return calls.open_pair();
          } catch (const InputOutputError&) {
          }
        }
      }();
      auto reader = spawn("reader", [&] { EXPECT_EQ(read_all(ends.first), ""); });
      SignalWatch hang_up(SIGHUP);
      suspend();
      world_->at({}, [&] { world_->node("main").signal(SIGHUP); });  // As the sleep begins.
      hang_up.wait();
      calls.close(ends.second);
      await(reader);
      calls.close(ends.first);
    });
    run();
  }
}

TEST_F(SimPolls, WhatLastsLetsTimePass) {
  world_->node("main", [] {
    backend::DescriptorCalls& calls = descriptor_calls();
    const DescriptorPair ends = calls.open_pair();
    auto busy = spawn("busy", [&] {
      Descriptor descriptor(ends.first);
      while (true) descriptor.wait_writable();
    });
    delay(1ms);
    busy.cancel();
    EXPECT_THROW(await(busy), Cancellation);
    calls.close(ends.first);
    calls.close(ends.second);
  });
  run();
}

TEST_F(SimPolls, WhoeverWaitsForEverIsExplained) {
  world_->node("main", [] {
    const DescriptorPair ends = descriptor_calls().open_pair();
    Descriptor(ends.first).wait_readable();
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->verdict, Verdict::Liveness);
  const std::string& why = world_->failure()->explanation;
  EXPECT_NE(why.find("orphan: descriptor made at"), std::string::npos) << why;
  EXPECT_NE(why.find("polls_test.cpp"), std::string::npos) << why;
  EXPECT_NE(why.find("is up to whoever has descriptor 4, its other end"),
            std::string::npos)
      << why;
  const std::string& graph = world_->failure()->wait_graph;
  EXPECT_NE(graph.find("0 bytes to read, room for 65536"), std::string::npos) << graph;
}

TEST_F(SimPolls, WhatIsLeftOpenIsNamedWithItsPlace) {
  world_->node("main", [] { descriptor_calls().close(descriptor_calls().open_pair().second); });
  run();
  ASSERT_EQ(world_->log().size(), 1u);
  EXPECT_NE(
      world_->log()[0].find("left open at the end of the run: descriptor 3, made at "),
      std::string::npos)
      << world_->log()[0];
  EXPECT_NE(world_->log()[0].find("polls_test.cpp:"), std::string::npos);
}

TEST_F(SimPolls, AnotherRunBeginsWithoutDescriptors) {
  for (int i = 0; i < 2; ++i) {
    begin(1);
    world_->node("main", [] {
      EXPECT_EQ(descriptor_calls().open_pair().first, kFirst);
      descriptor_calls().exhaust(true);
    });
    run();
  }
}

}  // namespace
}  // namespace fermata::sim
