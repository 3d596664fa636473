// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/ring.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "fermata/os/clock.hpp"
#include "tests/conformance/uring_arm.hpp"

namespace fermata::uring::detail {
namespace {

using namespace std::chrono_literals;

/// Notes its completions.
class Noted {
 public:
  [[nodiscard]] const std::vector<int>& results() const { return results_; }
  [[nodiscard]] Operation& operation() { return operation_; }
  /// Called at each completion.
  std::function<void()> then;

 private:
  void completed(int result, std::uint32_t) noexcept {
    results_.push_back(result);
    if (then) then();
  }

  std::vector<int> results_;
  OperationOf<Noted, &Noted::completed> operation_{*this};
};

class UringRing : public ::testing::Test {
 protected:
  void start_nop(Noted& noted) {
    ring_->start(noted.operation(), [](io_uring_sqe* entry) { io_uring_prep_nop(entry); });
  }
  void start_poll(Noted& noted, int descriptor) {
    ring_->start(noted.operation(),
                 [&](io_uring_sqe* entry) { io_uring_prep_poll_add(entry, descriptor, POLLIN); });
  }
  void look(Instant wake_by = {}) {
    ring_->look(wake_by, [this] { ++begun_; });
  }
  void look_until_idle() {
    for (const Instant end = os::now() + 10s; ring_->in_flight() > 0 && os::now() < end;) look(end);
    EXPECT_EQ(ring_->in_flight(), 0u);
  }

  void SetUp() override { ring_.emplace(); }

  std::optional<Ring> ring_;
  int begun_ = 0;
};

/// A pipe, whose reading end is never ready.
class Quiet {
 public:
  Quiet() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  ~Quiet() {
    for (const int each : ends_) ::close(each);
  }
  [[nodiscard]] int descriptor() const { return ends_[0]; }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(UringRing, SubmitsAndTellsInOneLook) {
  Noted first;
  Noted second;
  start_nop(first);
  start_nop(second);
  EXPECT_EQ(ring_->in_flight(), 2u);
  look();
  EXPECT_EQ(first.results(), std::vector{0});
  EXPECT_EQ(second.results(), std::vector{0});
  EXPECT_EQ(ring_->in_flight(), 0u);
  EXPECT_EQ(begun_, 1);
}

TEST_F(UringRing, TellsNothingWhenNothingIsCompleted) {
  look();
  EXPECT_EQ(begun_, 0);
}

TEST_F(UringRing, WaitsUntilTheInstantIsOver) {
  const Quiet quiet;
  Noted poll;
  start_poll(poll, quiet.descriptor());
  const Instant wake_by = os::now() + 5ms;
  int looks = 0;
  for (; os::now() < wake_by; ++looks) look(wake_by);
  EXPECT_LE(looks, 5);
  EXPECT_TRUE(poll.results().empty());
  ring_.reset();  // Before the operation that is in flight.
}

TEST_F(UringRing, ACancelledOperationIsInFlightUntilItsCompletion) {
  const Quiet quiet;
  Noted poll;
  start_poll(poll, quiet.descriptor());
  look();
  ring_->cancel(poll.operation());
  ring_->cancel(poll.operation());
  EXPECT_TRUE(poll.operation().is_in_flight());
  look_until_idle();
  EXPECT_EQ(poll.results(), std::vector{-ECANCELED});
  ring_->cancel(poll.operation());
  look();
  EXPECT_EQ(poll.results().size(), 1u);
}

TEST_F(UringRing, TakesMoreThanItHasRoomFor) {
  std::deque<Noted> many(6000);  // More than entries for submissions, and for completions.
  for (Noted& each : many) start_nop(each);
  look_until_idle();
  for (const Noted& each : many) EXPECT_EQ(each.results(), std::vector{0});
}

TEST_F(UringRing, TellsWhatIsStartedMeanwhileInTheNextLook) {
  Noted again;
  again.then = [&] {
    if (again.results().size() < 3) start_nop(again);
  };
  start_nop(again);
  for (std::size_t i = 1; i <= 3; ++i) {
    look();
    EXPECT_EQ(again.results().size(), i);
  }
}

TEST_F(UringRing, ItsEndWaitsForWhatIsInFlight) {
  const Quiet quiet;
  std::deque<Noted> many(100);
  for (Noted& each : many) start_poll(each, quiet.descriptor());
  ring_.reset();
  for (Noted& each : many) {
    EXPECT_FALSE(each.operation().is_in_flight());
    EXPECT_TRUE(each.results().empty());  // Nobody is told.
  }
}

}  // namespace
}  // namespace fermata::uring::detail
