// SPDX-License-Identifier: Apache-2.0
//
// X43 to X45 of the additions: what callbacks hold, and what its destructors may do.

#include <array>
#include <memory>

#include "fermata/io/descriptor.hpp"
#include "fermata/loop/fiber_local.hpp"
#include "fermata/loop/tcp/connection.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopCaptures : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopCaptures, every_arm(), arm_name);

/// A loop that goes on while destructors wait: each of them until it has seen that.
class GoingOn {
 public:
  explicit GoingOn(LoopArm& arm) : arm_(arm) {}

  /// Something whose end waits for three ticks of the loop, if it can.
  [[nodiscard]] std::shared_ptr<void> patient() {
    ++living_;
    return {this, [](GoingOn* self) { self->wait(); }};
  }
  /// Runs the loop until all of them have died.
  void drive() {
    arm_.loop().repeat(1ms, [this](CallbackId id) {
      ++ticks_;
      if (living_ == 0 || ticks_ == kMost) arm_.loop().cancel(id);
    });
    arm_.drive();
    EXPECT_EQ(living_, 0);
  }

 private:
  static constexpr int kMost = 200;

  void wait() {
    const int goal = ticks_ + 3;
    for (int i = 0; ticks_ < goal && i < kMost; ++i) fermata::delay(1ms);
    EXPECT_GE(ticks_, goal) << "the loop stood still";
    --living_;
  }

  LoopArm& arm_;
  int living_ = 0;
  int ticks_ = 0;
};

LOOP_CASE(LoopCaptures, CapturesThatWaitWhenTheyDieDoNotHoldUpTheLoop) {
  GoingOn going_on(arm);
  for (const CallbackKind kind : kEveryKind) {
    add(arm, kind, [&loop, held = going_on.patient()](CallbackId id) { loop.cancel(id); });
    add(arm, kind, [&loop, held = going_on.patient()](CallbackId id) {
      loop.cancel(id);
      throw Planned("planned");
    });
  }
  provoke(arm, CallbackKind::Signal);
  const CallbackId noticed =
      loop.on_notice([&loop, held = going_on.patient()](CallbackId id) { loop.cancel(id); });
  loop.notice(noticed);
  loop.queue([held = going_on.patient()] {});
  loop.post([held = going_on.patient()] {});
  const CallbackId never = loop.delay(1h, [held = going_on.patient()] {});
  loop.delay(2ms, [&loop, never] { loop.cancel(never); });
  int errors = 0;
  loop.set_error_handler([&errors](std::exception_ptr) { ++errors; });
  going_on.drive();
  EXPECT_EQ(errors, static_cast<int>(kEveryKind.size()));
  loop.set_error_handler(nullptr);
}

LOOP_CASE(LoopCaptures, CapturesOfWhatCouldNotBeCalledDoNotHoldUpTheLoop) {
  GoingOn going_on(arm);
  // Closed before it is activated, while it is watched, and when it is ready.
  const int early = arm.stream_pair().near;
  loop.on_readable(early, [held = going_on.patient()] {});
  arm.close(early);
  const int late = arm.stream_pair().near;
  loop.on_readable(late, [held = going_on.patient()] {});
  loop.delay(1ms, [&arm, late] { arm.close(late); });
  int errors = 0;
  loop.set_error_handler([&](std::exception_ptr) {
    // The last copy of this handler dies when it returns.
    if (++errors == 2) loop.set_error_handler(nullptr);
  });
  going_on.drive();
  EXPECT_EQ(errors, 2);
  loop.set_error_handler(nullptr);

  loop.set_error_handler(
      [&loop, held = going_on.patient()](std::exception_ptr) { loop.set_error_handler(nullptr); });
  loop.defer([] { throw Planned("planned"); });
  loop::FiberLocal<std::shared_ptr<void>> local;
  loop.defer([&] { local.set(going_on.patient()); });
  going_on.drive();
}

/// Registers one of everything when it dies.
class Registering {
 public:
  Registering(Loop& loop, int stream, std::shared_ptr<int> held)
      : loop_(loop), stream_(stream), held_(std::move(held)) {}
  Registering(const Registering&) = delete;
  Registering& operator=(const Registering&) = delete;
  ~Registering() {
    for (const CallbackKind kind : kEveryKind) {
      const CallbackId id = add_on(loop_, stream_, kind, [held = held_](CallbackId) {});
      EXPECT_FALSE(loop_.has(id));
      loop_.cancel(id);
    }
    loop_.notice(loop_.on_notice([held = held_] {}));
    loop_.queue([held = held_] {});
    loop_.post([held = held_] {});
    const auto connection = loop::TcpConnection::connect(
        loop_, {"127.0.0.1", 9}, {.on_close = [held = held_](loop::TcpConnection&) {}});
    connection->abandon();
    kept_ = loop::TcpConnection::connect(loop_, {"127.0.0.1", 9},
                                         {.on_close = [held = held_](loop::TcpConnection&) {}});
  }

  static inline loop::TcpConnectionPtr kept_;

 private:
  Loop& loop_;
  int stream_;
  std::shared_ptr<int> held_;
};

LOOP_CASE(LoopCaptures, WhatDestructorsRegisterWhileTheLoopEndsIsReleased) {
  const auto held = std::make_shared<int>(0);
  const int stream = arm.stream_pair().near;
  const std::array<std::function<void(Loop&, loop::Task)>, 3> holders = {
      [](Loop& ending, loop::Task task) { ending.defer([task = std::move(task)] {}); },
      [](Loop& ending, loop::Task task) { ending.queue(std::move(task)); },
      [](Loop& ending, loop::Task task) { ending.post(std::move(task)); }};
  for (const auto& hold : holders) {
    SCOPED_TRACE(&hold - holders.data());
    auto ending = std::make_unique<Loop>();
    auto registering = std::make_shared<Registering>(*ending, stream, held);
    hold(*ending, [registering] {});
    registering.reset();
    ending.reset();
    EXPECT_EQ(held.use_count(), 1);
    ASSERT_NE(Registering::kept_, nullptr);
    EXPECT_EQ(Registering::kept_->state(), loop::TcpState::Closed);
    Registering::kept_->abandon();
    Registering::kept_.reset();
  }
}

}  // namespace
}  // namespace fermata::conformance
