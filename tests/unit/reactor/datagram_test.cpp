// SPDX-License-Identifier: Apache-2.0

// What a socket for datagrams asks of its backend, seen from a backend that does only what the test
// says.

#include "fermata/reactor/datagram.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata {
namespace {

using test::bytes_of;
using test::text_of;

const Address kPeer("10.0.0.9", 99);

class FakeSocket final : public backend::DatagramHandle {
 public:
  using backend::DatagramHandle::close_acknowledged;
  using backend::DatagramHandle::receive_failed;
  using backend::DatagramHandle::received;
  using backend::DatagramHandle::send_done;

  struct Counts {
    int starts = 0;
    int stops = 0;
    int closes = 0;
    int deaths = 0;
  };

  FakeSocket(detail::Attachment& attachment, Counts& counts)
      : backend::DatagramHandle(attachment), counts_(counts) {}
  ~FakeSocket() override { ++counts_.deaths; }

  [[nodiscard]] Address local_address() const override { return {}; }

  void come(std::string_view text) { received(bytes_of(text), kPeer); }

  int start_code = 0;
  int send_code = 0;
  int submit_code = 0;
  int membership_code = 0;
  std::vector<std::string> sent;
  std::optional<std::string> submitted;

 private:
  int start_receiving() override {
    ++counts_.starts;
    return start_code;
  }
  void stop_receiving() noexcept override { ++counts_.stops; }
  int send_now(std::span<const std::byte> data, const Address&) override {
    if (send_code == 0) sent.push_back(text_of(data));
    return send_code;
  }
  int submit_send(std::span<const std::byte> data, const Address&) override {
    if (submit_code == 0) submitted = text_of(data);
    return submit_code;
  }
  int set_membership(const Address&, bool) override { return membership_code; }
  void close_backend() noexcept override { ++counts_.closes; }

  Counts& counts_;
};

class DatagramTest : public ::testing::Test {
 protected:
  /// Runs `body` in a runtime with an open socket, which is closed and acknowledged after it.
  template <class Body>
  void run(Body body) {
    test::TestRuntime host;
    host.run([&] {
      attachment_.attach(host.runtime);
      socket_ = Ref<FakeSocket>::adopt(*new FakeSocket(attachment_, counts_));
      body();
      if (!socket_) return;
      FakeSocket& socket = *socket_;
      const bool open = !socket.is_closed();
      socket.close();
      socket_.reset();
      if (open) socket.close_acknowledged();
    });
    EXPECT_EQ(attachment_.unclosed(), 0u);
    EXPECT_EQ(counts_.deaths, 1);
  }

  std::string receive(std::size_t max = 100) {
    std::vector<std::byte> buffer(max);
    backend::ReceiveRequest request(*socket_, buffer);
    if (!request.is_completed()) return "nothing";
    if (request.error()) return message_of(request.error());
    return text_of(std::span(buffer).first(request.take().size));
  }

  detail::Attachment attachment_;
  FakeSocket::Counts counts_;
  Ref<FakeSocket> socket_;
  std::array<std::byte, 4> buffer_{};
};

MAIN_TEST_F(DatagramTest, IsAnIoHandleOfItsType) {
  EXPECT_STREQ(to_string(socket_->io_type()), "UDP");
}

MAIN_TEST_F(DatagramTest, StaysArmedBetweenReads) {
  for (int i = 0; i < 3; ++i) {
    backend::ReceiveRequest request(*socket_, buffer_);
    socket_->come("abcd");
    ASSERT_TRUE(request.is_completed());
    EXPECT_EQ(request.take().peer, kPeer);
  }
  EXPECT_EQ(counts_.starts, 1);
  EXPECT_EQ(counts_.stops, 0);
}

MAIN_TEST_F(DatagramTest, HoldsAFewWhenNobodyReadsAndThenStops) {
  { const backend::ReceiveRequest abandoned(*socket_, buffer_); }
  for (std::size_t i = 0; i < backend::DatagramHandle::kHeldMax; ++i) {
    EXPECT_EQ(counts_.stops, 0);
    socket_->come(std::to_string(i));
  }
  EXPECT_EQ(counts_.stops, 1);
  for (std::size_t i = 0; i < backend::DatagramHandle::kHeldMax; ++i) {
    EXPECT_EQ(receive(), std::to_string(i));
  }
  EXPECT_EQ(counts_.starts, 1);
  EXPECT_EQ(receive(), "nothing");
  EXPECT_EQ(counts_.starts, 2);
}

MAIN_TEST_F(DatagramTest, EachOneGoesToOneReaderInOrder) {
  FERMATA_CHECKS("IO-01", "IO-13");
  backend::ReceiveRequest first(*socket_, buffer_);
  std::array<std::byte, 4> other{};
  backend::ReceiveRequest second(*socket_, other);
  socket_->come("a");
  EXPECT_TRUE(first.is_completed());
  EXPECT_FALSE(second.is_completed());
  socket_->come("");
  ASSERT_TRUE(second.is_completed());
  EXPECT_EQ(first.take().size, 1u);
  EXPECT_EQ(second.take().size, 0u);
  EXPECT_FALSE(second.take().truncated);
}

MAIN_TEST_F(DatagramTest, AReaderThatLeavesGivesBackTheWholeAtTheHead) {
  FERMATA_CHECKS("IO-13", "IO-08");
  {
    backend::ReceiveRequest leaves(*socket_, buffer_);
    socket_->come("longer than the buffer");
    socket_->come("next");
    ASSERT_TRUE(leaves.is_completed());
  }
  EXPECT_EQ(receive(), "longer than the buffer");
  EXPECT_EQ(receive(), "next");
}

MAIN_TEST_F(DatagramTest, AReaderThatLeavesPassesItOnToTheNext) {
  auto leaves = std::make_unique<backend::ReceiveRequest>(*socket_, buffer_);
  std::array<std::byte, 4> other{};
  backend::ReceiveRequest waits(*socket_, other);
  socket_->come("abc");
  leaves.reset();
  ASSERT_TRUE(waits.is_completed());
  EXPECT_EQ(waits.take().size, 3u);
  EXPECT_EQ(text_of(std::span(other).first(3)), "abc");
}

MAIN_TEST_F(DatagramTest, TruncationIsFlagged) {
  backend::ReceiveRequest request(*socket_, buffer_);
  socket_->come("abcde");
  const backend::Datagram got = request.take();
  EXPECT_EQ(got.size, 4u);
  EXPECT_TRUE(got.truncated);
  EXPECT_EQ(text_of(buffer_), "abcd");
}

MAIN_TEST_F(DatagramTest, AnErrorIsThatOfOneReceive) {
  backend::ReceiveRequest request(*socket_, buffer_);
  socket_->receive_failed(ECONNREFUSED);
  EXPECT_EQ(message_of(request.error()), "receive: Connection refused");
  socket_->come("well");
  EXPECT_EQ(receive(), "well");
  socket_->receive_failed(ENOMEM);
  EXPECT_EQ(counts_.stops, 1);
  EXPECT_EQ(receive(), "receive: Cannot allocate memory");
  EXPECT_EQ(receive(), "nothing");
  EXPECT_EQ(counts_.starts, 2);
}

MAIN_TEST_F(DatagramTest, ABackendThatCannotReceiveFailsTheReader) {
  socket_->start_code = EBADF;
  EXPECT_EQ(receive(), "receive: Bad file descriptor");
  EXPECT_EQ(receive(), "receive: Bad file descriptor");
}

MAIN_TEST_F(DatagramTest, SendsAtOnceWhenItCan) {
  const backend::SendRequest request(*socket_, bytes_of("now"), kPeer);
  EXPECT_TRUE(request.is_completed());
  EXPECT_EQ(request.transferred(), 3u);
  EXPECT_EQ(socket_->sent, std::vector<std::string>{"now"});
}

MAIN_TEST_F(DatagramTest, WhatTheSystemDoesNotTakeWaitsInOrder) {
  FERMATA_CHECKS("IO-01");
  socket_->send_code = EAGAIN;
  std::string text = "first";
  backend::SendRequest first(*socket_, bytes_of(text), kPeer);
  text = "XXXXX";
  backend::SendRequest second(*socket_, bytes_of("second"), kPeer);
  EXPECT_EQ(socket_->submitted, "first");
  socket_->send_code = 0;
  EXPECT_FALSE(socket_->try_send(bytes_of("may not overtake"), kPeer));
  socket_->send_done(0);
  EXPECT_TRUE(first.is_completed());
  EXPECT_FALSE(second.is_completed());
  EXPECT_EQ(socket_->submitted, "second");
  socket_->send_done(ENETUNREACH);
  EXPECT_EQ(message_of(second.error()), "send to 10.0.0.9:99: Network is unreachable");
  EXPECT_TRUE(socket_->try_send(bytes_of("a failure is not sticky"), kPeer));
}

MAIN_TEST_F(DatagramTest, ASendThatWasAbandonedGoesOnSilently) {
  FERMATA_CHECKS("IO-07");
  socket_->send_code = EAGAIN;
  { const backend::SendRequest abandoned(*socket_, bytes_of("goes on"), kPeer); }
  EXPECT_EQ(socket_->submitted, "goes on");
  socket_->send_done(0);
}

MAIN_TEST_F(DatagramTest, ASendThatTheBackendRefusesFails) {
  socket_->send_code = EAGAIN;
  socket_->submit_code = ENOMEM;
  const backend::SendRequest request(*socket_, bytes_of("x"), kPeer);
  EXPECT_EQ(message_of(request.error()), "send to 10.0.0.9:99: Cannot allocate memory");
  socket_->send_code = EPERM;
  EXPECT_THROW(socket_->try_send(bytes_of("x"), kPeer), InputOutputError);
  const backend::SendRequest another(*socket_, bytes_of("x"), kPeer);
  EXPECT_EQ(message_of(another.error()), "send to 10.0.0.9:99: Operation not permitted");
}

MAIN_TEST_F(DatagramTest, CloseFailsWhatIsParkedAndForgetsWhatIsHeld) {
  FERMATA_CHECKS("IO-06", "IO-07", "CLOSE-03");
  socket_->send_code = EAGAIN;
  backend::SendRequest sending(*socket_, bytes_of("x"), kPeer);
  backend::ReceiveRequest request(*socket_, buffer_);
  socket_->close();
  EXPECT_EQ(message_of(request.error()), "Stream was closed");
  EXPECT_EQ(message_of(sending.error()), "Stream was closed");
  socket_->come("late");
  socket_->receive_failed(EIO);
  socket_->send_done(ECANCELED);
  EXPECT_EQ(receive(), "Cannot read from closed IO handle");
  const backend::SendRequest later(*socket_, bytes_of("x"), kPeer);
  EXPECT_EQ(message_of(later.error()), "Cannot write to closed IO handle");
  EXPECT_EQ(counts_.closes, 1);
  socket_->close_acknowledged();
}

MAIN_TEST_F(DatagramTest, AReaderThatLeavesAClosedSocketGivesNothingBack) {
  {
    const backend::ReceiveRequest leaves(*socket_, buffer_);
    socket_->come("abc");
    socket_->close();
  }
  EXPECT_EQ(counts_.closes, 1);
  socket_->close_acknowledged();
}

MAIN_TEST_F(DatagramTest, MembershipErrorsNameTheGroup) {
  socket_->join(Address("224.0.0.5", 0));
  socket_->membership_code = ENODEV;
  try {
    socket_->join(Address("224.0.0.5", 0));
    ADD_FAILURE() << "joined";
  } catch (const InputOutputError& error) {
    EXPECT_STREQ(error.what(), "join 224.0.0.5: No such device");
  }
  EXPECT_THROW(socket_->leave(Address("240.0.0.1", 0)), UsageError);
}

}  // namespace
}  // namespace fermata
