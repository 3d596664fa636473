// SPDX-License-Identifier: Apache-2.0
#include "fermata/uv/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/sync/await.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/conformance/transports.hpp"

namespace fermata::uv {
namespace {

using namespace std::chrono_literals;

// --- the draws ---

TEST(Reorder, TellsCompletionsInEveryOrderAndSoon) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    detail::Reorder reorder(seed);
    std::string order;
    for (const char name : {'a', 'b', 'c'}) reorder.defer([&order, name] { order += name; });
    for (int turn = 0; turn < 5; ++turn) reorder.run_some();
    EXPECT_FALSE(reorder.pending());
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Reorder, TellsWhatACompletionCausesAfterIt) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    detail::Reorder reorder(seed);
    std::string order;
    reorder.defer([&] {
      order += 'a';
      reorder.defer([&] { order += 'b'; });
    });
    while (reorder.pending()) reorder.run_some();
    EXPECT_EQ(order, "ab");
  }
}

struct CountedSource final : detail::ReadySource {
  void hold() noexcept override { ++holds; }
  void resume() noexcept override { ++releases; }
  int holds = 0;
  int releases = 0;
};

TEST(Reorder, HoldsASourceForOneTurn) {
  detail::Reorder reorder(7);
  CountedSource first;
  CountedSource second;
  for (CountedSource* source : {&first, &second, &first}) reorder.watch(*source);
  bool before = false;
  for (int turn = 0; turn < 100; ++turn) {
    const bool holds = reorder.hold_some();
    EXPECT_FALSE(holds && before);
    before = holds;
    reorder.release_all();
    EXPECT_EQ(first.holds, first.releases);
    EXPECT_EQ(second.holds, second.releases);
  }
  EXPECT_GT(first.holds, 0);
  EXPECT_GT(second.holds, 0);
  for (int turn = 0; first.holds == first.releases; ++turn) {
    reorder.release_all();
    reorder.hold_some();
  }
  reorder.unwatch(first);  // While it is held.
  reorder.release_all();
  EXPECT_EQ(first.holds, first.releases + 1);
  reorder.unwatch(first);
  reorder.unwatch(second);
}

// --- whole programs ---

/// The orders in which `body` notes what happens, over so many seeds.
std::set<std::string> orders_of(const std::function<void(std::string& order)>& body,
                                std::uint64_t seeds = 60) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Runtime runtime(make_reactor({.reorder = seed}), {.handle_stop_signals = false});
    std::string order;
    EXPECT_EQ(runtime.run([&] { body(order); }), 0);
    orders.insert(order);
  }
  return orders;
}

using UvReorder = conformance::ScratchFolder<conformance::UvArm>;

TEST_F(UvReorder, MixesWorkThatHasEnded) {
  const auto orders = orders_of([](std::string& order) {
    auto first = spawn("first", [&] {
      offload([] {});
      order += 'a';
    });
    auto second = spawn("second", [&] {
      offload([] {});
      order += 'b';
    });
    await(first);
    await(second);
  });
  EXPECT_EQ(orders, (std::set<std::string>{"ab", "ba"}));
}

TEST_F(UvReorder, KeepsTheOrderOfOneFile) {
  int number = 0;
  const auto orders = orders_of([&](std::string& order) {
    File file = File::open(path(std::to_string(++number)), OpenMode::creating());
    auto first = spawn("first", [&] {
      file.write("a");
      order += 'a';
    });
    auto second = spawn("second", [&] {
      file.write("b");
      order += 'b';
    });
    await(first);
    await(second);
    EXPECT_EQ(fs::read_file(file.path()), "ab");
  });
  EXPECT_EQ(orders, (std::set<std::string>{"ab"}));
}

TEST_F(UvReorder, MixesConnectionsButNotTheirBytes) {
  const auto orders = orders_of([](std::string& order) {
    conformance::Connected<conformance::OverTcp> one;
    conformance::Connected<conformance::OverTcp> other;
    const auto follow = [&order](TcpStream& stream, char name) {
      std::string all;
      std::string part(3, '\0');
      while (const auto size = stream.read(std::as_writable_bytes(std::span(part)))) {
        all += part.substr(0, size);
      }
      EXPECT_EQ(all, "0123456789");
      order += name;
    };
    auto first = spawn("first", [&] { follow(*one.server, 'a'); });
    auto second = spawn("second", [&] { follow(*other.server, 'b'); });
    suspend();
    for (auto* pair : {&one, &other}) {
      pair->client->write("01234");
      pair->client->write("56789");
      pair->client->close();
    }
    await(first);
    await(second);
  });
  EXPECT_EQ(orders, (std::set<std::string>{"ab", "ba"}));
}

TEST_F(UvReorder, MixesTimersWithOtherThings) {
  const auto orders = orders_of([](std::string& order) {
    auto timed = spawn("timed", [&] {
      delay(200us);
      order += 't';
    });
    auto working = spawn("working", [&] {
      offload([] {});
      order += 'w';
    });
    suspend();
    const Instant both_are_due = now() + 2ms;
    while (now() < both_are_due) continue;
    await(timed);
    await(working);
  });
  EXPECT_EQ(orders, (std::set<std::string>{"tw", "wt"}));
}

TEST_F(UvReorder, KeepsTheOrderOfTimersAndIsNeverEarly) {
  const auto counts = orders_of([](std::string& order) {
    Instant latest;
    std::vector<Coroutine<void>> timed;
    for (const Duration span : {30ms, 10ms, 30ms, 20ms}) {
      timed.push_back(spawn("timed", [&order, &latest, span] {
        const Instant due = now() + span;
        delay(span);
        EXPECT_GE(now(), due);
        EXPECT_GE(due, latest);
        latest = due;
        order += '.';
      }));
    }
    for (auto& each : timed) await(each);
  });
  EXPECT_EQ(counts, (std::set<std::string>{"...."}));
}

}  // namespace
}  // namespace fermata::uv
