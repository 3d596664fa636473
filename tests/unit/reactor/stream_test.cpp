// SPDX-License-Identifier: Apache-2.0

// What streams, listeners and handles ask of their backend, seen from a backend that does only what
// the test says.

#include "fermata/reactor/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/reactor/listener.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;
using test::text_of;

class FakeStream final : public backend::StreamHandle {
 public:
  using backend::StreamHandle::close_acknowledged;
  using backend::StreamHandle::read_target;
  using backend::StreamHandle::receive_failed;
  using backend::StreamHandle::received;
  using backend::StreamHandle::received_end;
  using backend::StreamHandle::write_done;

  struct Counts {
    int starts = 0;
    int stops = 0;
    int shutdowns = 0;
    int closes = 0;
    int deaths = 0;
  };

  FakeStream(detail::Attachment& attachment, Counts& counts)
      : backend::StreamHandle(attachment, backend::IoType::Tcp), counts_(counts) {}
  ~FakeStream() override { ++counts_.deaths; }

  std::size_t room = 1000;  // What try_write accepts.
  int write_code = 0;
  int read_code = 0;
  std::string written;
  std::optional<std::string> submitted;

 private:
  int start_reading() override {
    ++counts_.starts;
    return read_code;
  }
  void stop_reading() noexcept override { ++counts_.stops; }
  Written try_write(backend::Buffers buffers) override {
    std::size_t accepted = 0;
    for (const auto each : buffers) {
      const std::size_t part = std::min(room - accepted, each.size());
      written.append(reinterpret_cast<const char*>(each.data()), part);
      accepted += part;
    }
    return {accepted, write_code};
  }
  int submit_write(std::span<const std::byte> data) override {
    submitted.emplace(reinterpret_cast<const char*>(data.data()), data.size());
    return 0;
  }
  void submit_shutdown() noexcept override { ++counts_.shutdowns; }
  void close_backend() noexcept override { ++counts_.closes; }

  Counts& counts_;
};

class Stream : public ::testing::Test {
 protected:
  /// Runs `body` in a runtime with an open stream, which is closed and acknowledged after it.
  template <class Body>
  void run(Body body) {
    test::TestRuntime host;
    host.run([&] {
      attachment_.attach(host.runtime);
      stream_ = Ref<FakeStream>::adopt(*new FakeStream(attachment_, counts_));
      body();
      if (!stream_) return;
      FakeStream& stream = *stream_;
      const bool open = !stream.is_closed();
      stream.close();
      stream_.reset();
      if (open) stream.close_acknowledged();
    });
    EXPECT_EQ(attachment_.unclosed(), 0u);
  }

  detail::Attachment attachment_;
  FakeStream::Counts counts_;
  Ref<FakeStream> stream_;
  std::array<std::byte, 4> buffer_{};
};

MAIN_TEST_F(Stream, StaysArmedBetweenReads) {
  for (int i = 0; i < 3; ++i) {
    backend::ReadRequest request(*stream_, buffer_);
    stream_->received(bytes_of("abcd"));
    ASSERT_TRUE(request.is_completed());
    EXPECT_EQ(request.take(), 4u);
  }
  EXPECT_EQ(counts_.starts, 1);
  EXPECT_EQ(counts_.stops, 0);
}

MAIN_TEST_F(Stream, PutsBytesStraightIntoTheWaitingBuffer) {
  std::array<std::byte, 8> spare;
  EXPECT_EQ(stream_->read_target(spare).data(), spare.data());
  backend::ReadRequest request(*stream_, buffer_);
  EXPECT_EQ(stream_->read_target(spare).data(), buffer_.data());
  buffer_.fill(std::byte{7});
  stream_->received(std::span(buffer_).first(2));
  EXPECT_EQ(request.take(), 2u);
  EXPECT_EQ(buffer_[1], std::byte{7});
}

MAIN_TEST_F(Stream, HoldsOneChunkWhenNobodyReadsAndThenStops) {
  { const backend::ReadRequest abandoned(*stream_, buffer_); }
  stream_->received(bytes_of("abcdef"));
  EXPECT_EQ(counts_.stops, 1);
  backend::ReadRequest first(*stream_, buffer_);
  EXPECT_TRUE(first.is_completed());
  EXPECT_EQ(first.take(), 4u);
  backend::ReadRequest second(*stream_, buffer_);
  EXPECT_EQ(second.take(), 2u);
  EXPECT_EQ(counts_.starts, 1);
  const backend::ReadRequest third(*stream_, buffer_);
  EXPECT_FALSE(third.is_completed());
  EXPECT_EQ(counts_.starts, 2);
}

MAIN_TEST_F(Stream, BytesThatWereNotTakenComeBackInFrontOfLaterOnes) {
  FERMATA_CHECKS("IO-02", "IO-09");
  std::array<std::byte, 16> rest;
  auto first = std::make_unique<backend::ReadRequest>(*stream_, buffer_);
  backend::ReadRequest second(*stream_, rest);
  stream_->received(bytes_of("abcdef"));
  EXPECT_TRUE(first->is_completed());
  EXPECT_FALSE(second.is_completed());
  stream_->received(bytes_of("gh"));
  first.reset();
  ASSERT_TRUE(second.is_completed());
  EXPECT_EQ(std::string(reinterpret_cast<char*>(rest.data()), second.take()), "abcdefgh");
}

MAIN_TEST_F(Stream, AReadOfAllStaysTheFirstUntilItIsFull) {
  FERMATA_CHECKS("IO-09");
  std::array<std::byte, 16> rest;
  backend::ReadRequest all(*stream_, buffer_, backend::ReadMode::All);
  backend::ReadRequest next(*stream_, rest);
  stream_->received(bytes_of("ab"));
  EXPECT_FALSE(all.is_completed() || next.is_completed());
  const auto target = stream_->read_target(rest);
  EXPECT_EQ(target.data(), buffer_.data() + 2);
  EXPECT_EQ(target.size(), 2u);
  stream_->received(bytes_of("cdef"));
  ASSERT_TRUE(all.is_completed());
  EXPECT_FALSE(next.is_completed());
  EXPECT_EQ(all.take(), 4u);
  EXPECT_EQ(text_of(buffer_), "abcd");
  ASSERT_TRUE(next.is_completed());
  EXPECT_EQ(text_of(std::span(rest).first(next.take())), "ef");
  EXPECT_EQ(counts_.starts, 1);
}

MAIN_TEST_F(Stream, AReadOfAllTakesWhatIsHeldAndThenWhatComes) {
  { const backend::ReadRequest abandoned(*stream_, buffer_); }
  stream_->received(bytes_of("abc"));
  backend::ReadRequest all(*stream_, buffer_, backend::ReadMode::All);
  EXPECT_FALSE(all.is_completed());
  stream_->received(bytes_of("d"));
  EXPECT_EQ(all.take(), 4u);
  EXPECT_EQ(text_of(buffer_), "abcd");
}

MAIN_TEST_F(Stream, AReadOfAllThatLeavesGivesBackWhatItHas) {
  FERMATA_CHECKS("IO-02");
  std::array<std::byte, 16> rest;
  auto all = std::make_unique<backend::ReadRequest>(*stream_, buffer_, backend::ReadMode::All);
  backend::ReadRequest next(*stream_, rest);
  stream_->received(bytes_of("ab"));
  all.reset();
  ASSERT_TRUE(next.is_completed());
  stream_->received(bytes_of("cd"));
  EXPECT_EQ(text_of(std::span(rest).first(next.take())), "ab");
  EXPECT_EQ(backend::ReadRequest(*stream_, buffer_).take(), 2u);
}

TEST_F(Stream, AReadOfAllThatMeetsTheEndOrAnErrorGivesBackWhatItHas) {
  FERMATA_CHECKS("IO-02", "IO-04");
  for (const bool fails : {false, true}) {
    run([&] {
      std::array<std::byte, 16> rest;
      auto all = std::make_unique<backend::ReadRequest>(*stream_, buffer_, backend::ReadMode::All);
      backend::ReadRequest next(*stream_, rest);
      stream_->received(bytes_of("ab"));
      fails ? stream_->receive_failed(ECONNRESET) : stream_->received_end();
      ASSERT_TRUE(all->is_completed());
      EXPECT_EQ(all->transferred(), fails ? 0u : 2u);
      EXPECT_EQ(all->error() != nullptr, fails);
      all.reset();
      ASSERT_TRUE(next.is_completed());
      EXPECT_EQ(text_of(std::span(rest).first(next.take())), "ab");
      const backend::ReadRequest last(*stream_, buffer_);
      EXPECT_EQ(last.transferred(), 0u);
      EXPECT_EQ(last.error() != nullptr, fails);
    });
  }
}

MAIN_TEST_F(Stream, AReadOfAllFailsWithItsStream) {
  FERMATA_CHECKS("IO-06");
  const backend::ReadRequest all(*stream_, buffer_, backend::ReadMode::All);
  stream_->received(bytes_of("ab"));
  stream_->close();
  EXPECT_EQ(message_of(all.error()), "Stream was closed");
  stream_->close_acknowledged();
}

MAIN_TEST_F(Stream, AnAbandonedReadIsNeverWrittenTo) {
  FERMATA_CHECKS("IO-07", "IO-08");
  { const backend::ReadRequest abandoned(*stream_, buffer_); }
  stream_->received(bytes_of("abcd"));
  EXPECT_EQ(buffer_, (std::array<std::byte, 4>{}));
}

MAIN_TEST_F(Stream, TheEndComesBehindWhatIsHeldAndDoesNotArmAgain) {
  FERMATA_CHECKS("IO-04");
  { const backend::ReadRequest abandoned(*stream_, buffer_); }
  stream_->received(bytes_of("ab"));
  stream_->received_end();
  EXPECT_FALSE(stream_->at_end());
  EXPECT_EQ(backend::ReadRequest(*stream_, buffer_).take(), 2u);
  for (int i = 0; i < 2; ++i) {
    backend::ReadRequest request(*stream_, buffer_);
    EXPECT_TRUE(request.is_completed());
    EXPECT_EQ(request.take(), 0u);
  }
  EXPECT_EQ(counts_.starts, 1);
}

MAIN_TEST_F(Stream, AReadErrorIsSticky) {
  const backend::ReadRequest waiting(*stream_, buffer_);
  stream_->receive_failed(ECONNRESET);
  EXPECT_EQ(message_of(waiting.error()), "read: Connection reset by peer");
  const backend::ReadRequest later(*stream_, buffer_);
  EXPECT_EQ(message_of(later.error()), "read: Connection reset by peer");
}

MAIN_TEST_F(Stream, ABackendThatCannotReadFailsTheRead) {
  stream_->read_code = ENOTCONN;
  const backend::ReadRequest request(*stream_, buffer_);
  EXPECT_EQ(message_of(request.error()), "read: Transport endpoint is not connected");
}

MAIN_TEST_F(Stream, WhatIsNotAcceptedAtOnceIsCopiedAndCompletesTheWriteLater) {
  FERMATA_CHECKS("IO-03");
  stream_->room = 3;
  std::string text = "abcdef";
  const backend::WriteRequest first(*stream_, bytes_of(text));
  const backend::WriteRequest second(*stream_, bytes_of("gh"));
  text.assign(6, '?');
  EXPECT_EQ(stream_->written, "abc");
  EXPECT_EQ(stream_->submitted, "def");
  stream_->write_done(0);
  EXPECT_TRUE(first.is_completed());
  EXPECT_EQ(first.transferred(), 6u);
  EXPECT_EQ(stream_->submitted, "gh");
  EXPECT_FALSE(second.is_completed());
  stream_->write_done(0);
  EXPECT_EQ(second.transferred(), 2u);
}

MAIN_TEST_F(Stream, AShortWriteIsEnoughForWhoAsksForSome) {
  stream_->room = 3;
  const backend::WriteRequest request(*stream_, bytes_of("abcdef"), backend::WriteMode::Some);
  EXPECT_TRUE(request.is_completed());
  EXPECT_EQ(request.transferred(), 3u);
  EXPECT_FALSE(stream_->submitted);
}

MAIN_TEST_F(Stream, WritesAtOnceOnlyWhatNothingElseStandsInFrontOf) {
  FERMATA_CHECKS("IO-03");
  stream_->room = 3;
  EXPECT_EQ(stream_->write_at_once(bytes_of("abcdef")), 3u);
  stream_->room = 0;
  EXPECT_EQ(stream_->write_at_once(bytes_of("def")), 0u);
  const backend::WriteRequest waiting(*stream_, bytes_of("def"));
  stream_->room = 100;
  EXPECT_EQ(stream_->write_at_once(bytes_of("ghi")), 0u);
  stream_->write_done(0);
  EXPECT_EQ(stream_->write_at_once(bytes_of("ghi")), 3u);
  EXPECT_EQ(stream_->written, "abcghi");
  stream_->room = 0;
  stream_->write_code = EPIPE;
  EXPECT_EQ(stream_->write_at_once(bytes_of("j")), 0u);
  const backend::WriteRequest failing(*stream_, bytes_of("j"));
  EXPECT_EQ(message_of(failing.error()), "write: Broken pipe");
}

MAIN_TEST_F(Stream, AnAbandonedWriteGoesOnWithoutItsRequest) {
  FERMATA_CHECKS("IO-01", "IO-07");
  stream_->room = 0;
  auto request = std::make_unique<backend::WriteRequest>(*stream_, bytes_of("abc"));
  const backend::WriteRequest next(*stream_, bytes_of("def"));
  request.reset();
  EXPECT_EQ(stream_->submitted, "abc");
  stream_->write_done(0);
  EXPECT_EQ(stream_->submitted, "def");
  stream_->write_done(0);
  EXPECT_TRUE(next.is_completed());
}

MAIN_TEST_F(Stream, AFailedWriteFailsThoseBehindItAndLaterOnes) {
  stream_->room = 0;
  const backend::WriteRequest first(*stream_, bytes_of("abc"));
  const backend::WriteRequest second(*stream_, bytes_of("def"));
  stream_->write_done(EPIPE);
  const backend::WriteRequest third(*stream_, bytes_of("ghi"));
  for (const auto* request : {&first, &second, &third}) {
    EXPECT_EQ(message_of(request->error()), "write: Broken pipe");
  }
}

MAIN_TEST_F(Stream, OneWriteMovesAtMostTheCap) {
  FERMATA_CHECKS("IO-12");
  const std::byte byte{};
  stream_->room = 0;
  stream_->write_code = EPIPE;
  const backend::WriteRequest request(*stream_, {&byte, backend::kTransferMax + 1});
  EXPECT_TRUE(request.is_completed());
  EXPECT_EQ(backend::kTransferMax, 0x7ffff000u);
}

MAIN_TEST_F(Stream, TheWritingSideEndsBehindPendingWrites) {
  stream_->room = 0;
  const backend::WriteRequest pending(*stream_, bytes_of("abc"));
  stream_->shutdown_write();
  stream_->shutdown_write();
  EXPECT_EQ(counts_.shutdowns, 0);
  stream_->write_done(0);
  EXPECT_EQ(counts_.shutdowns, 1);
  const backend::WriteRequest late(*stream_, bytes_of("d"));
  EXPECT_EQ(message_of(late.error()), "write: Broken pipe");
}

MAIN_TEST_F(Stream, LivesUntilTheBackendHasLetGo) {
  FERMATA_CHECKS("CLOSE-01", "CLOSE-03", "CLOSE-06");
  FakeStream& stream = *stream_;
  stream_.reset();
  EXPECT_EQ(counts_.closes, 1);
  EXPECT_EQ(counts_.deaths, 0);
  EXPECT_EQ(attachment_.unclosed(), 1u);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  stream.close_acknowledged();
  EXPECT_EQ(counts_.closes, 1);
  EXPECT_EQ(counts_.deaths, 1);
}

TEST_F(Stream, ParkedOperationsHoldItAndFailAtItsClose) {
  FERMATA_CHECKS("IO-06", "CLOSE-05", "CLOSE-06");
  run([&] {
    const backend::ReadRequest reading(*stream_, buffer_);
    stream_->room = 0;
    const backend::WriteRequest writing(*stream_, bytes_of("abc"));
    FakeStream& stream = *stream_;
    stream_.reset();
    EXPECT_EQ(counts_.closes, 0);
    EXPECT_EQ(current_runtime().active_event_count(), 2u);
    stream.close();
    EXPECT_EQ(message_of(reading.error()), "Stream was closed");
    EXPECT_EQ(message_of(writing.error()), "Stream was closed");
    EXPECT_EQ(current_runtime().active_event_count(), 0u);
    stream.write_done(ECANCELED);
    stream.close_acknowledged();
    EXPECT_EQ(counts_.deaths, 0);
  });
  EXPECT_EQ(counts_.deaths, 1);
}

// --- listeners ---

class FakeListener final : public backend::ListenerHandle {
 public:
  using backend::ListenerHandle::accept_failed;
  using backend::ListenerHandle::is_accepting;

  explicit FakeListener(detail::Attachment& attachment) : backend::ListenerHandle(attachment, {}) {
    resumed = 0;
  }
  [[nodiscard]] Address local_address() const override { return {}; }
  int resumed = 0;
  int paused = 0;

 private:
  void resume_accepting() override { ++resumed; }
  void pause_accepting() noexcept override { ++paused; }
  void close_backend() noexcept override { close_acknowledged(); }
};

class Listener : public ::testing::Test {
 protected:
  template <class Body>
  void run(Body body) {
    test::TestRuntime host;
    host.run([&] {
      attachment_.attach(host.runtime);
      const auto listener = Ref<FakeListener>::adopt(*new FakeListener(attachment_));
      body(*listener);
      listener->close();
    });
  }
  detail::Attachment attachment_;
};

TEST_F(Listener, AShortageOfDescriptorsPausesAndIsTriedAgain) {
  run([&](FakeListener& listener) {
    const backend::AcceptRequest waiting(listener);
    for (const int code : {EMFILE, ENFILE, ENOBUFS, ENOMEM}) {
      listener.accept_failed(code);
      EXPECT_FALSE(listener.is_accepting());
      delay(backend::ListenerHandle::kRetryDelay - 1ms);
      EXPECT_FALSE(listener.is_accepting());
      delay(2ms);
      EXPECT_TRUE(listener.is_accepting());
    }
    EXPECT_FALSE(waiting.is_completed());
    EXPECT_EQ(listener.resumed, 4);
  });
}

TEST_F(Listener, AnErrorOfOneConnectionIsSkippedAnyOtherIsTold) {
  run([&](FakeListener& listener) {
    const backend::AcceptRequest waiting(listener);
    listener.accept_failed(ECONNABORTED);
    EXPECT_FALSE(waiting.is_completed());
    listener.accept_failed(EINVAL);
    EXPECT_EQ(message_of(waiting.error()), "accept: Invalid argument");
    listener.accept_failed(EINVAL);
    const backend::AcceptRequest next(listener);
    EXPECT_EQ(message_of(next.error()), "accept: Invalid argument");
    const backend::AcceptRequest later(listener);
    EXPECT_FALSE(later.is_completed());
    EXPECT_FALSE(listener.is_closed());
  });
}

TEST_F(Listener, AnErrorThatNobodyWasToldGoesToTheNext) {
  run([&](FakeListener& listener) {
    std::optional<backend::AcceptRequest> leaving(std::in_place, listener);
    std::optional<backend::AcceptRequest> next(std::in_place, listener);
    listener.accept_failed(EINVAL);
    EXPECT_TRUE(leaving->is_completed());
    leaving.reset();
    EXPECT_EQ(message_of(next->error()), "accept: Invalid argument");
    next->mark_error_told();
    next.reset();
    const backend::AcceptRequest later(listener);
    EXPECT_FALSE(later.is_completed());
  });
}

}  // namespace
}  // namespace fermata
