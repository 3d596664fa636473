// SPDX-License-Identifier: Apache-2.0

// Real descriptors, on every real reactor, and what happens when somebody closes them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/poll_arm.hpp"
#include "tests/conformance/uv_arm.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

template <class Arm>
class DescriptorPolls : public ::testing::Test {};
using RealArms = ::testing::Types<conformance::UvArm, conformance::PollArm>;
TYPED_TEST_SUITE(DescriptorPolls, RealArms);

/// Two connected sockets, closed by whoever still has them at the end.
struct Sockets {
  Sockets() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0); }
  ~Sockets() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  void send() { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  void close(std::size_t index) { ::close(std::exchange(ends[index], -1)); }
  [[nodiscard]] int mine() const { return ends[0]; }

  std::array<int, 2> ends{};
};

MAIN_TYPED_TEST(DescriptorPolls, WatchPipes) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  writing.wait_writable();
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(reading.wait_readable(), PollMask::Readable);
  ::close(ends[1]);
  ::close(ends[0]);
}

MAIN_TYPED_TEST(DescriptorPolls, AreWaitedForAgainWhateverCameMeanwhile) {
  Sockets sockets;
  Descriptor descriptor(sockets.mine());
  for (int i = 0; i < 6; ++i) {
    if (i % 2 == 0) {
      sockets.send();
      delay(1ms);  // Nobody waits.
    } else {
      spawn([&] { sockets.send(); });
    }
    EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
    if (i % 3 == 0) {
      EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
    }
    char byte = 0;
    EXPECT_EQ(::read(sockets.mine(), &byte, 1), 1);
    EXPECT_EQ(descriptor.wait_writable(), PollMask::Writable);
  }
  EXPECT_THROW(descriptor.wait_readable({.timeout = 1ms}), Timeout);
}

MAIN_TYPED_TEST(DescriptorPolls, ANumberThatIsFreeAgainIsWatchedAnew) {
  for (int i = 0; i < 3; ++i) {
    Sockets sockets;  // With the same numbers each time.
    Descriptor descriptor(sockets.mine());
    spawn([&] { sockets.send(); });
    EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
    if (i == 1) sockets.close(0);
  }
}

MAIN_TYPED_TEST(DescriptorPolls, ANumberThatMeansAnotherFileIsNotWaitedForAgain) {
  Sockets sockets;
  Sockets others;
  const int copy = dup(sockets.mine());  // So that the system goes on watching the old file.
  {
    Descriptor descriptor(sockets.mine());
    sockets.send();
    EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
    ASSERT_EQ(dup2(others.mine(), sockets.mine()), sockets.mine());
    sockets.send();
    delay(1ms);
    EXPECT_THROW(descriptor.wait_readable(), PollError);
  }
  Descriptor other(sockets.mine());
  EXPECT_THROW(other.wait_readable({.timeout = 1ms}), Timeout);
  others.send();
  EXPECT_EQ(other.wait_readable(), PollMask::Readable);
  ::close(copy);
}

MAIN_TYPED_TEST(DescriptorPolls, ANumberThatMeansAnotherFileNowIsNotMistakenForTheOldOne) {
  Sockets sockets;
  Sockets others;
  Descriptor descriptor(sockets.mine());
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  ASSERT_EQ(dup2(others.mine(), sockets.mine()), sockets.mine());
  others.send();
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  EXPECT_THROW(descriptor.wait_readable(), PollError);
}

MAIN_TYPED_TEST(DescriptorPolls, WhatComesForTheOldFileIsNotToldOfTheNewOne) {
  Sockets sockets;
  Sockets others;
  const int copy = dup(sockets.mine());  // So that the system goes on watching the old file.
  Descriptor descriptor(sockets.mine());
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  delay(1ms);  // The next look at closed descriptors is ten milliseconds away.
  ASSERT_EQ(dup2(others.mine(), sockets.mine()), sockets.mine());
  others.send();
  sockets.send();
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  ::close(copy);
}

MAIN_TYPED_TEST(DescriptorPolls, AClosedDescriptorWhoseDuplicateLivesDoesNotSpin) {
  Sockets sockets;
  Sockets healthy;
  const int duplicate = ::dup(sockets.mine());
  Descriptor well(healthy.mine());
  auto well_waiter = spawn("well", [&] { return well.wait_readable(); });
  Descriptor descriptor(sockets.mine());
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  sockets.close(0);
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  sockets.send();  // From now on the stale registration is ready, forever.
  delay(5ms);
  const std::uint64_t polls = current_runtime().metrics().polls;
  delay(20ms);
  EXPECT_LT(current_runtime().metrics().polls - polls, 10u);
  healthy.send();
  EXPECT_EQ(await(well_waiter), PollMask::Readable);
  ::close(duplicate);
}

MAIN_TYPED_TEST(DescriptorPolls, ManyDescriptorsAreLookedAfterInRotation) {
  std::vector<Sockets> sockets(40);
  std::vector<Coroutine<PollMask>> waiters;
  for (const Sockets& each : sockets) {
    waiters.push_back(
        spawn("waiter", [number = each.mine()] { return Descriptor(number).wait_readable(); }));
  }
  suspend();
  sockets[33].close(0);
  EXPECT_EQ(await(waiters[33]), PollMask::Disconnect);
  for (Sockets& each : sockets) {
    if (each.mine() >= 0) each.send();
  }
  for (std::size_t i = 0; i < waiters.size(); ++i) {
    if (i == 33) continue;
    EXPECT_EQ(await(waiters[i]), PollMask::Readable);
  }
}

}  // namespace
}  // namespace fermata
