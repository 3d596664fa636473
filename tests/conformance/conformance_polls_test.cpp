// SPDX-License-Identifier: Apache-2.0

// Descriptors that programs bring, and what happens when somebody closes them.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/arms.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/events.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;

constexpr PollMask kBoth = PollMask::Readable | PollMask::Writable;

/// Two connected sockets, closed by whoever still has them at the end.
struct Sockets {
  Sockets() {
    const DescriptorPair pair = descriptor_calls().open_pair();
    ends = {pair.first, pair.second};
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;
  ~Sockets() {
    for (std::size_t i = 0; i < ends.size(); ++i) close(i);
  }
  void send(std::string_view text = "x") {
    EXPECT_EQ(descriptor_calls().write(ends[1], bytes_of(text)).size, text.size());
  }
  void close(std::size_t index) {
    if (ends[index] < 0) return;
    EXPECT_EQ(descriptor_calls().close(std::exchange(ends[index], -1)), 0);
  }
  [[nodiscard]] int mine() const { return ends[0]; }

  std::array<int, 2> ends{};
};

/// "abc", or the error: "-11".
std::string read_from(int descriptor, std::size_t most = 100) {
  std::vector<std::byte> buffer(most);
  const DescriptorTransfer read = descriptor_calls().read(descriptor, buffer);
  if (read.code != 0) return std::to_string(-read.code);
  return {reinterpret_cast<const char*>(buffer.data()), read.size};
}

template <class Arm>
class Polls : public ::testing::Test {};
TYPED_TEST_SUITE(Polls, PollableArms);

MAIN_TYPED_TEST(Polls, TellWhenADescriptorIsReady) {
  FERMATA_CHECKS("POLL-02");
  Sockets sockets;
  Descriptor descriptor(sockets.mine());
  EXPECT_EQ(descriptor.wait_writable(), PollMask::Writable);
  EXPECT_THROW(descriptor.wait_readable({.timeout = 2ms}), Timeout);
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  sockets.send();
  EXPECT_EQ(await(waiter), PollMask::Readable);
  EXPECT_EQ(descriptor.wait(kBoth), kBoth);
}

MAIN_TYPED_TEST(Polls, TellOfWhatLastsInEachTurn) {
  FERMATA_CHECKS("POLL-01", "POLL-04");
  Sockets sockets;
  const Ref<backend::Poll> poll = current_runtime().reactor().polls().open(sockets.mine());
  backend::PollProxy writable(*poll, PollMask::Writable);
  backend::PollProxy readable(*poll, PollMask::Readable);
  int writes = 0;
  int reads = 0;
  const Subscription write = subscribe(writable, [&](Event&, const Outcome&) { ++writes; });
  const Subscription read = subscribe(readable, [&](Event&, const Outcome&) { ++reads; });
  writable.start();
  readable.start();
  EXPECT_EQ(poll->armed(), kBoth);
  delay(5ms);
  EXPECT_GT(writes, 2);
  EXPECT_EQ(reads, 0);
  writable.stop();
  EXPECT_EQ(poll->armed(), PollMask::Readable);
  const int before = writes;
  sockets.send();
  delay(5ms);
  EXPECT_EQ(writes, before);
  EXPECT_GT(reads, 2);
  EXPECT_EQ(read_from(sockets.mine()), "x");
  readable.stop();
}

MAIN_TYPED_TEST(Polls, OneForEachDescriptor) {
  FERMATA_CHECKS("POLL-08", "POLL-05");
  Sockets sockets;
  auto& polls = current_runtime().reactor().polls();
  Ref<backend::Poll> poll = polls.open(sockets.mine());
  EXPECT_EQ(polls.open(sockets.mine()).get(), poll.get());
  const Ref<backend::Poll> other = polls.open(sockets.ends[1]);
  EXPECT_NE(other.get(), poll.get());
  backend::PollProxy proxy(*poll, PollMask::Writable);
  poll.reset();
  EXPECT_EQ(proxy.poll().descriptor(), sockets.mine());
  wait(proxy);
  EXPECT_EQ(proxy.triggered(), PollMask::Writable);
}

MAIN_TYPED_TEST(Polls, TwoWaitersOfOneProxyAreIndependent) {
  FERMATA_CHECKS("POLL-06");
  Sockets sockets;
  const Ref<backend::Poll> poll = current_runtime().reactor().polls().open(sockets.mine());
  backend::PollProxy proxy(*poll, PollMask::Readable);
  auto patient = spawn("patient", [&] { wait(proxy); });
  auto cancelled = spawn("cancelled", [&] { wait(proxy); });
  suspend();
  cancelled.cancel();
  EXPECT_THROW(await(cancelled), Cancellation);
  EXPECT_EQ(poll->armed(), PollMask::Readable);
  sockets.send();
  await(patient);
}

MAIN_TYPED_TEST(Polls, AHangUpWakesReadersAndWriters) {
  FERMATA_CHECKS("POLL-03");
  Sockets sockets;
  Descriptor descriptor(sockets.mine());
  const auto both = PollMask::Readable | PollMask::Disconnect;
  auto reader = spawn("reader", [&] { return descriptor.wait(both); });
  suspend();
  sockets.close(1);
  EXPECT_EQ(await(reader), both);
  EXPECT_TRUE(any(descriptor.wait_writable() & PollMask::Disconnect));
  EXPECT_EQ(read_from(sockets.mine()), "");
  EXPECT_EQ(descriptor_calls().write(sockets.mine(), bytes_of("x")).code, EPIPE);
}

MAIN_TYPED_TEST(Polls, TheEndOfWhatIsWrittenIsReadBehindIt) {
  Sockets sockets;
  sockets.send("last words");
  EXPECT_EQ(descriptor_calls().shut_down_writing(sockets.ends[1]), 0);
  EXPECT_EQ(descriptor_calls().write(sockets.ends[1], bytes_of("x")).code, EPIPE);
  Descriptor descriptor(sockets.mine());
  EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
  EXPECT_EQ(read_from(sockets.mine(), 5), "last ");
  EXPECT_EQ(read_from(sockets.mine()), "words");
  EXPECT_EQ(descriptor.wait(PollMask::Readable), PollMask::Readable);
  EXPECT_EQ(read_from(sockets.mine()), "");
  EXPECT_EQ(descriptor_calls().write(sockets.mine(), bytes_of("answer")).size, 6u);
  EXPECT_EQ(read_from(sockets.ends[1]), "answer");
}

MAIN_TYPED_TEST(Polls, UnreadBytesBreakTheConnection) {
  Sockets sockets;
  ASSERT_EQ(descriptor_calls().write(sockets.mine(), bytes_of("never read")).size, 10u);
  sockets.close(1);
  Descriptor descriptor(sockets.mine());
  EXPECT_TRUE(any(descriptor.wait_readable() & PollMask::Disconnect));
  EXPECT_EQ(descriptor_calls().take_error(sockets.mine()), ECONNRESET);
  EXPECT_EQ(descriptor_calls().take_error(sockets.mine()), 0);
  EXPECT_EQ(read_from(sockets.mine()), "");
}

MAIN_TYPED_TEST(Polls, AFullSocketIsWritableAgainWhenItIsRead) {
  Sockets sockets;
  const std::string block(10'000, 'b');
  std::size_t written = 0;
  DescriptorTransfer last;
  do {
    last = descriptor_calls().write(sockets.ends[1], bytes_of(block));
    written += last.size;
  } while (last.code == 0);
  EXPECT_EQ(last.code, EAGAIN);
  Descriptor descriptor(sockets.ends[1]);
  EXPECT_THROW(descriptor.wait_writable({.timeout = 2ms}), Timeout);
  auto writer = spawn("writer", [&] { return descriptor.wait_writable(); });
  suspend();
  std::size_t read = 0;
  for (std::string text; (text = read_from(sockets.mine(), 4096)) != std::to_string(-EAGAIN);) {
    read += text.size();
  }
  EXPECT_EQ(read, written);
  EXPECT_EQ(await(writer), PollMask::Writable);
}

MAIN_TYPED_TEST(Polls, ARefusedConnectIsReadyForEverything) {
  FERMATA_CHECKS("POLL-03");
  backend::DescriptorCalls& calls = descriptor_calls();
  const int refused = calls.open_refused();
  {
    Descriptor descriptor(refused);
    const PollMask ready = descriptor.wait_writable();
    EXPECT_EQ(ready & PollMask::Writable, PollMask::Writable);
    EXPECT_EQ(ready & PollMask::Disconnect, PollMask::Disconnect);
  }
  EXPECT_EQ(calls.take_error(refused), ECONNREFUSED);
  EXPECT_EQ(calls.write(refused, bytes_of("x")).code, EPIPE);
  EXPECT_EQ(calls.close(refused), 0);
}

MAIN_TYPED_TEST(Polls, WhatCannotBeWatchedIsRefused) {
  EXPECT_EQ(test::thrown_by([] { const Descriptor none(-1); }),
            "fermata::PollError: watch descriptor -1: Bad file descriptor");
  backend::DescriptorCalls& calls = descriptor_calls();
  const int file = calls.open_file();
  EXPECT_EQ(test::thrown_by([&] { const Descriptor regular(file); }),
            "fermata::PollError: watch descriptor " + std::to_string(file) +
                ": expected a socket, a pipe or a device, got a regular file");
  EXPECT_EQ(calls.write(file, bytes_of("text")).size, 4u);
  EXPECT_EQ(read_from(file), "");
  EXPECT_EQ(calls.close(file), 0);
}

MAIN_TYPED_TEST(Polls, WhatIsNotOpenIsNoDescriptor) {
  backend::DescriptorCalls& calls = descriptor_calls();
  int closed = 0;
  {
    const Sockets sockets;
    closed = sockets.mine();
    EXPECT_TRUE(calls.is_open(closed));
  }
  for (const int none : {closed, -1}) {
    EXPECT_FALSE(calls.is_open(none));
    EXPECT_EQ(read_from(none), std::to_string(-EBADF));
    EXPECT_EQ(calls.write(none, bytes_of("x")).code, EBADF);
    EXPECT_EQ(calls.shut_down_writing(none), EBADF);
    EXPECT_EQ(calls.take_error(none), EBADF);
    EXPECT_EQ(calls.close(none), EBADF);
  }
}

MAIN_TYPED_TEST(Polls, ADescriptorClosedWhileSomebodyWaitsIsReportedAsDisconnected) {
  FERMATA_CHECKS("POLL-03");
  Sockets sockets;
  Descriptor descriptor(sockets.mine());
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  sockets.close(0);
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
}

MAIN_TYPED_TEST(Polls, ADescriptorClosedBeforeTheWaitIsAnError) {
  Sockets sockets;
  Descriptor descriptor(sockets.mine());
  const std::string number = std::to_string(sockets.mine());
  sockets.close(0);
  EXPECT_EQ(
      test::thrown_by([&] { descriptor.wait_readable(); }),
      "fermata::PollError: watch descriptor " + number + ": it was closed: Bad file descriptor");
}

MAIN_TYPED_TEST(Polls, ANumberThatMeansAnotherFileNowIsNotMistakenForTheOldOne) {
  Sockets sockets;
  const int number = sockets.mine();
  Descriptor descriptor(number);
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  sockets.close(0);
  Sockets others;
  ASSERT_EQ(others.mine(), number);
  others.send();
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  EXPECT_THROW(descriptor.wait_readable(), PollError);
}

MAIN_TYPED_TEST(Polls, WhatANumberMeansNowIsWatchedBesideWhatItMeantBefore) {
  Sockets sockets;
  const int number = sockets.mine();
  Descriptor before(number);
  auto waiter = spawn("waiter", [&] { return before.wait_readable(); });
  suspend();
  sockets.close(0);
  Sockets others;
  ASSERT_EQ(others.mine(), number);
  Descriptor now(number);
  EXPECT_NE(&now.poll(), &before.poll());
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(now.wait_writable(), PollMask::Writable);
    EXPECT_EQ(test::thrown_by([&] { before.wait_readable(); }),
              "fermata::PollError: watch descriptor " + std::to_string(number) +
                  ": it was closed: Bad file descriptor");
  }
  before.close();
  others.send();
  EXPECT_EQ(now.wait_readable(), PollMask::Readable);
}

MAIN_TYPED_TEST(Polls, AnOwnedDescriptorThatWasClosedDoesNotCloseTheNextOneOfItsNumber) {
  Sockets sockets;
  const int number = sockets.mine();
  std::optional<Descriptor> owner(std::in_place, number, DescriptorOwner::Runtime);
  sockets.close(0);
  const Sockets others;
  ASSERT_EQ(others.mine(), number);
  owner.reset();
  EXPECT_TRUE(descriptor_calls().is_open(number));
}

MAIN_TYPED_TEST(Polls, AnOwnedDescriptorIsClosedOnceAfterItsWatch) {
  FERMATA_CHECKS("POLL-07", "CLOSE-08", "IO-11");
  Sockets sockets;
  const int mine = std::exchange(sockets.ends[0], -1);
  {
    const Descriptor owner(mine, DescriptorOwner::Runtime);
    const Descriptor other(mine);
    EXPECT_TRUE(descriptor_calls().is_open(mine));
  }
  EXPECT_FALSE(descriptor_calls().is_open(mine));
  const Descriptor borrowed(sockets.ends[1]);
}

template <class Operation>
std::exception_ptr thrown_in(Operation&& operation) {
  try {
    operation();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

MAIN_TYPED_TEST(Polls, AProcessWithoutFreeDescriptorsSaysSo) {
  backend::DescriptorCalls& calls = descriptor_calls();
  Sockets sockets;
  calls.exhaust(true);
  // Looked at later: a sanitizer needs descriptors of its own for that.
  const std::exception_ptr pair = thrown_in([&] { static_cast<void>(calls.open_pair()); });
  const std::exception_ptr refused = thrown_in([&] { static_cast<void>(calls.open_refused()); });
  const std::exception_ptr file = thrown_in([&] { static_cast<void>(calls.open_file()); });
  sockets.send();
  EXPECT_EQ(read_from(sockets.mine()), "x");
  calls.exhaust(false);
  EXPECT_EQ(test::error_of([&] { std::rethrow_exception(pair); }, EMFILE),
            "open a pair of descriptors: Too many open files");
  EXPECT_EQ(test::error_of([&] { std::rethrow_exception(refused); }, EMFILE),
            "open a descriptor that is refused: Too many open files");
  EXPECT_EQ(test::error_of([&] { std::rethrow_exception(file); }, EMFILE),
            "open a file: Too many open files");
  const Sockets others;
}

}  // namespace
}  // namespace fermata::conformance
