// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/poll.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata {
namespace {

constexpr PollMask kRead = PollMask::Readable;
constexpr PollMask kWrite = PollMask::Writable;
constexpr PollMask kGone = PollMask::Disconnect;

class FakePolls;

class FakePoll final : public backend::Poll {
 public:
  using backend::Poll::ready;
  FakePoll(backend::Polls& polls, int descriptor, int& deaths)
      : backend::Poll(polls, descriptor), deaths_(deaths) {}
  ~FakePoll() override { ++deaths_; }
  [[nodiscard]] bool same_file() const noexcept override { return true; }

  PollMask watched = PollMask::None;
  bool refuse = false;

 private:
  void arm_mask(PollMask mask) override {
    if (refuse) throw PollError("watch descriptor 5", EBADF);
    watched = mask;
  }
  void disarm_mask() noexcept override { watched = PollMask::None; }
  void close_backend() noexcept override { close_acknowledged(); }

  int& deaths_;
};

class FakePolls final : public backend::Polls {
 public:
  explicit FakePolls(detail::Attachment& attachment) : backend::Polls(attachment) {}
  int deaths = 0;
  int made = 0;

 private:
  Ref<backend::Poll> make(int descriptor) override {
    ++made;
    return Ref<backend::Poll>::adopt(*new FakePoll(*this, descriptor, deaths));
  }
};

class PollProxies : public ::testing::Test {
 protected:
  template <class Body>
  void run(Body body) {
    test::TestRuntime host;
    host.run([&] {
      attachment_.attach(host.runtime);
      const auto poll = polls_.open(5);
      poll_ = static_cast<FakePoll*>(poll.get());
      body();
    });
    EXPECT_EQ(polls_.deaths, polls_.made);
  }

  /// Notes each fire of `proxy` as its name and what triggered it.
  Subscription note(backend::PollProxy& proxy, std::string name) {
    return subscribe(proxy, [this, &proxy, name](Event&, const Outcome& outcome) {
      told_.push_back(name + " " + to_string(proxy.triggered()) +
                      (outcome.error ? " " + message_of(outcome.error) : ""));
    });
  }
  std::vector<std::string> told() { return std::exchange(told_, {}); }

  detail::Attachment attachment_;
  FakePolls polls_{attachment_};
  FakePoll* poll_ = nullptr;  // Of descriptor 5, as long as a test runs.
  std::vector<std::string> told_;
};

using Told = std::vector<std::string>;

MAIN_TEST_F(PollProxies, TheBackendWatchesForTheUnionOfTheStartedOnes) {
  FERMATA_CHECKS("POLL-01", "POLL-04", "CORE-EV-12");
  backend::PollProxy reader(*poll_, kRead);
  backend::PollProxy writer(*poll_, kWrite);
  backend::PollProxy other_reader(*poll_, kRead);
  EXPECT_EQ(poll_->watched, PollMask::None);
  reader.start();
  EXPECT_EQ(poll_->watched, kRead);
  writer.start();
  other_reader.start();
  EXPECT_EQ(poll_->watched, kRead | kWrite);
  reader.stop();
  EXPECT_EQ(poll_->watched, kRead | kWrite);
  writer.stop();
  EXPECT_EQ(poll_->watched, kRead);
  other_reader.stop();
  EXPECT_EQ(poll_->watched, PollMask::None);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
}

MAIN_TEST_F(PollProxies, OnlyThoseConcernedAreTold) {
  FERMATA_CHECKS("POLL-02");
  backend::PollProxy reader(*poll_, kRead);
  backend::PollProxy writer(*poll_, kWrite);
  backend::PollProxy both(*poll_, kRead | kWrite);
  const Subscription a = note(reader, "reader");
  const Subscription b = note(writer, "writer");
  const Subscription c = note(both, "both");
  for (backend::PollProxy* proxy : {&reader, &writer, &both}) proxy->start();
  poll_->ready(kRead);
  EXPECT_EQ(told(), (Told{"reader READABLE", "both READABLE"}));
  poll_->ready(kRead | kWrite);
  EXPECT_EQ(told(), (Told{"reader READABLE", "writer WRITABLE", "both READABLE|WRITABLE"}));
}

MAIN_TEST_F(PollProxies, AHangUpIsToldToEveryoneOnceAndStopsTheBackend) {
  FERMATA_CHECKS("POLL-03");
  backend::PollProxy reader(*poll_, kRead);
  backend::PollProxy writer(*poll_, kWrite);
  const Subscription a = note(reader, "reader");
  const Subscription b = note(writer, "writer");
  reader.start();
  writer.start();
  poll_->ready(kRead | kGone);
  EXPECT_EQ(told(), (Told{"reader READABLE|DISCONNECT", "writer READABLE|DISCONNECT"}));
  EXPECT_EQ(poll_->watched, PollMask::None);
  EXPECT_EQ(poll_->loop_ref_count(), 0u);
  reader.stop();
  EXPECT_EQ(poll_->watched, PollMask::None);
  reader.start();
  EXPECT_EQ(poll_->watched, kRead | kWrite);
}

MAIN_TEST_F(PollProxies, ChangesDuringADispatchAreSafe) {
  FERMATA_CHECKS("POLL-02", "POLL-04");
  auto second = std::make_unique<backend::PollProxy>(*poll_, kRead);
  backend::PollProxy first(*poll_, kRead);
  backend::PollProxy third(*poll_, kRead);
  backend::PollProxy late(*poll_, kRead);
  const Subscription on_first = subscribe(first, [&](Event& event, const Outcome&) {
    event.stop();
    second.reset();
    late.start();
  });
  const Subscription on_second = note(*second, "second");
  const Subscription on_third = note(third, "third");
  const Subscription on_late = note(late, "late");
  first.start();
  second->start();
  third.start();
  poll_->ready(kRead);
  EXPECT_EQ(told(), (Told{"third READABLE"}));
  poll_->ready(kRead);
  EXPECT_EQ(told(), (Told{"third READABLE", "late READABLE"}));
}

MAIN_TEST_F(PollProxies, TwoCoroutinesShareOneProxy) {
  FERMATA_CHECKS("POLL-06");
  backend::PollProxy proxy(*poll_, kRead);
  int woken = 0;
  const auto waiter = [&] {
    wait(proxy);
    ++woken;
  };
  auto cancelled = spawn("cancelled", waiter);
  auto one = spawn("one", waiter);
  auto two = spawn("two", waiter);
  suspend();
  EXPECT_EQ(proxy.loop_ref_count(), 3u);
  cancelled.cancel();
  EXPECT_THROW(wait(*cancelled), Cancellation);
  EXPECT_EQ(poll_->watched, kRead);
  poll_->ready(kRead);
  wait(*one);
  wait(*two);
  EXPECT_EQ(woken, 2);
  EXPECT_EQ(poll_->watched, PollMask::None);
}

TEST_F(PollProxies, OneDescriptorHasOnePollForAsLongAsAnyProxyLives) {
  FERMATA_CHECKS("POLL-05", "POLL-08");
  test::TestRuntime host;
  host.run([&] {
    attachment_.attach(host.runtime);
    auto poll = polls_.open(5);
    EXPECT_EQ(polls_.open(5).get(), poll.get());
    EXPECT_NE(polls_.open(6).get(), poll.get());
    EXPECT_EQ(polls_.deaths, 1);
    {
      const backend::PollProxy proxy(*poll, kRead);
      poll.reset();
      EXPECT_EQ(polls_.deaths, 1);
    }
    EXPECT_EQ(polls_.deaths, 2);
    poll = polls_.open(5);
    EXPECT_EQ(polls_.made, 3);
  });
}

MAIN_TEST_F(PollProxies, ARefusedStartChangesNothing) {
  FERMATA_CHECKS("CORE-WK-15");
  backend::PollProxy proxy(*poll_, kRead);
  poll_->refuse = true;
  EXPECT_EQ(test::thrown_by([&] { wait(proxy); }),
            "fermata::PollError: watch descriptor 5: Bad file descriptor");
  EXPECT_EQ(proxy.loop_ref_count(), 0u);
  EXPECT_EQ(poll_->loop_ref_count(), 0u);
  EXPECT_EQ(current_runtime().active_event_count(), 0u);
  poll_->refuse = false;
  proxy.start();
  EXPECT_EQ(poll_->watched, kRead);
}

MAIN_TEST_F(PollProxies, CloseEndsEveryWait) {
  backend::PollProxy proxy(*poll_, kRead);
  const Subscription subscription = note(proxy, "proxy");
  proxy.start();
  poll_->close();
  EXPECT_EQ(told(), (Told{"proxy DISCONNECT descriptor 5: its watch was closed"}));
  backend::PollProxy late(*poll_, kRead);
  EXPECT_EQ(test::thrown_by([&] { late.start(); }),
            "fermata::PollError: descriptor 5: its watch is closed");
}

}  // namespace
}  // namespace fermata
