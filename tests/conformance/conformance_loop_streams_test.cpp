// SPDX-License-Identifier: Apache-2.0
//
// Section G of the list, and X13 to X16 and X37 to X39 of the additions: descriptors.

#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "fermata/io/descriptor.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopStreams : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopStreams, every_arm(), arm_name);

/// Cases about the system's own descriptors.
class LoopRealStreams : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopRealStreams, real_arms(), arm_name);

LOOP_CASE(LoopStreams, AWritableDescriptorIsTold) {
  int calls = 0;
  loop.on_writable(arm.always_writable(), [&] { ++calls; });
  loop.delay(5ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_GE(calls, 1);
}

LOOP_CASE(LoopStreams, ADisabledWriterIsNotCalled) {
  int calls = 0;
  loop.disable(loop.on_writable(arm.always_writable(), [&] { ++calls; }));
  loop.delay(5ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_EQ(calls, 0);
}

LOOP_CASE(LoopStreams, AWriterIsCalledOnceItIsEnabled) {
  int calls = 0;
  const CallbackId id = loop.on_writable(arm.always_writable(), [&] { ++calls; });
  loop.disable(id);
  loop.defer([&] { loop.enable(id); });
  loop.delay(5ms, [&] { loop.stop(); });
  arm.drive();
  EXPECT_GE(calls, 1);
}

/// Main waits for a callback that runs once.
void resumed_once(LoopArm& arm, bool readable) {
  if (arm.refuses_to_suspend_main()) return;
  Loop& loop = arm.loop();
  const StreamPair pair = arm.stream_pair();
  if (readable) arm.write(pair.far, "x");
  const loop::Suspension main = loop.suspension();
  int calls = 0;
  const auto once = [&, main](CallbackId id, int descriptor) {
    ++calls;
    EXPECT_EQ(descriptor, pair.near);
    loop.cancel(id);
    main.resume();
  };
  if (readable) {
    loop.on_readable(pair.near, once);
  } else {
    loop.on_writable(pair.near, once);
  }
  main.suspend();
  EXPECT_EQ(calls, 1);
}

LOOP_CASE(LoopStreams, AReaderMayResumeMain) { resumed_once(arm, true); }

LOOP_CASE(LoopStreams, AWriterMayResumeMain) { resumed_once(arm, false); }

LOOP_CASE(LoopStreams, AFailedConnectIsWritable) {
  const int socket = arm.keep(descriptor_calls().open_refused());
  int calls = 0;
  loop.on_writable(socket, [&](CallbackId id) {
    ++calls;
    loop.cancel(id);
  });
  loop.unreference(loop.delay(10s, [&] { loop.stop(); }));
  arm.drive();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(descriptor_calls().take_error(socket), ECONNREFUSED);
}

/// Descriptors that lead nowhere, up to a number beyond what select(2) can watch.
class ManyDescriptors {
 public:
  ManyDescriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit wanted = before_;
    wanted.rlim_cur = std::min<rlim_t>(before_.rlim_max, 4096);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &wanted), 0);
    for (int pair = 0; pair < 1001; ++pair) {
      int ends[2] = {-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) break;
      open_.insert(open_.end(), {ends[0], ends[1]});
    }
  }
  ManyDescriptors(const ManyDescriptors&) = delete;
  ManyDescriptors& operator=(const ManyDescriptors&) = delete;
  ~ManyDescriptors() {
    for (const int descriptor : open_) ::close(descriptor);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

  [[nodiscard]] const std::vector<int>& all() const noexcept { return open_; }

 private:
  rlimit before_ = {};
  std::vector<int> open_;
};

LOOP_CASE(LoopRealStreams, MoreDescriptorsThanSelectTakesAreRefusedOrServed) {
  const ManyDescriptors many;
  ASSERT_EQ(many.all().size(), 2002u);
  std::size_t calls = 0;
  const auto watch_all = [&] {
    for (const int descriptor : many.all()) {
      loop.on_writable(descriptor, [&](CallbackId id) {
        ++calls;
        loop.cancel(id);
      });
    }
  };
  if (GetParam().is_select) {
    const std::string text = text_of<PollError>(watch_all);
    EXPECT_NE(text.find(std::to_string(FD_SETSIZE)), std::string::npos) << text;
    arm.drive();
    EXPECT_GT(calls, 0u);  // Those that it can watch.
  } else {
    watch_all();
    arm.drive();
    EXPECT_EQ(calls, many.all().size());
  }
}

LOOP_CASE(LoopStreams, AHandlerMayCancelItselfAndUseItsCaptures) {
  for (const CallbackKind kind : kEveryKind) {
    SCOPED_TRACE(to_string(kind));
    std::string seen;
    auto held = std::make_shared<std::string>("still here, and too long to be kept in place");
    const std::weak_ptr<std::string> watched = held;
    add(arm, kind, [&loop, &seen, held = std::move(held)](CallbackId id) {
      loop.cancel(id);
      seen = *held;
    });
    provoke(arm, kind);
    arm.drive();
    EXPECT_EQ(seen, "still here, and too long to be kept in place");
    EXPECT_TRUE(watched.expired());
  }
}

LOOP_CASE(LoopStreams, AnOldHandlerNeverSeesTheNextDescriptorOfItsNumber) {
  const StreamPair old = arm.stream_pair();
  arm.write(old.far, "old");
  int old_calls = 0;
  std::string read;
  loop.on_readable(old.near, [&](CallbackId self) {
    ++old_calls;
    loop.cancel(self);
    arm.close(old.near);
    const StreamPair fresh = arm.stream_pair();
    EXPECT_EQ(std::min(fresh.near, fresh.far), old.near);
    const StreamPair used = fresh.near == old.near ? fresh : StreamPair{fresh.far, fresh.near};
    loop.on_readable(used.near, [&, used](CallbackId id) {
      read = arm.read(used.near, 16);
      loop.cancel(id);
    });
    loop.delay(2ms, [&arm, used] { arm.write(used.far, "new"); });
  });
  arm.drive();
  EXPECT_EQ(old_calls, 1);
  EXPECT_EQ(read, "new");
}

/// Callbacks that are not cancelled before their descriptors are closed.
class ClosedTooEarly {
 public:
  explicit ClosedTooEarly(LoopArm& arm) : arm_(arm) {
    arm.loop().set_error_handler([this](std::exception_ptr error) {
      told_.push_back(text_of<PollError>([&] { std::rethrow_exception(error); }));
    });
  }
  ClosedTooEarly(const ClosedTooEarly&) = delete;
  ClosedTooEarly& operator=(const ClosedTooEarly&) = delete;
  ~ClosedTooEarly() { arm_.loop().set_error_handler(nullptr); }

  void close(int descriptor) {
    arm_.close(descriptor);
    expected_.push_back("watch descriptor " + std::to_string(descriptor) +
                        ": it was closed: Bad file descriptor");
  }
  /// The next descriptor gets the number, and something to read.
  void replace(int descriptor) {
    close(descriptor);
    const StreamPair pair = arm_.stream_pair();
    EXPECT_EQ(std::min(pair.near, pair.far), descriptor);
    arm_.write(pair.near, "new");
    arm_.write(pair.far, "new");
  }
  /// Nobody but the loop was told, and it has forgotten them.
  void check() const {
    EXPECT_EQ(told_, expected_);
    EXPECT_TRUE(arm_.loop().identifiers().empty());
  }

 private:
  LoopArm& arm_;
  std::vector<std::string> told_;
  std::vector<std::string> expected_;
};

void must_not_be_called(CallbackId) { ADD_FAILURE() << "its descriptor was closed"; }

LOOP_CASE(LoopStreams, WhatWasNotCancelledIsNotCalledForTheNextDescriptorOfItsNumber) {
  ClosedTooEarly closed(arm);
  const StreamPair old = arm.stream_pair();
  loop.on_readable(old.near, must_not_be_called);
  loop.delay(1ms, [&] { closed.replace(old.near); });
  arm.drive();
  closed.check();
  EXPECT_EQ(arm.read(old.near, 16), "new");
}

LOOP_CASE(LoopStreams, WhatIsReadyIsNotCalledWhenItsDescriptorIsClosedInThatTick) {
  for (const bool reused : {false, true}) {
    SCOPED_TRACE(reused);
    ClosedTooEarly closed(arm);
    const std::array pairs = {arm.stream_pair(), arm.stream_pair()};
    int calls = 0;
    for (const std::size_t index : {0u, 1u}) {
      arm.write(pairs[index].far, "old");
      loop.on_readable(pairs[index].near, [&, index](CallbackId self) {
        ++calls;
        loop.cancel(self);
        const int other = pairs[1 - index].near;
        reused ? closed.replace(other) : closed.close(other);
      });
    }
    arm.drive();
    EXPECT_EQ(calls, 1);
    closed.check();
  }
}

LOOP_CASE(LoopStreams, WhatANumberMeansNowIsWatchedBesideWhatItMeantBefore) {
  for (const CallbackKind kind : {CallbackKind::Readable, CallbackKind::Writable}) {
    SCOPED_TRACE(to_string(kind));
    ClosedTooEarly closed(arm);
    const int number = arm.stream_pair().near;
    loop.on_readable(number, must_not_be_called);
    int calls = 0;
    loop.delay(1ms, [&] {
      closed.replace(number);
      add_on(loop, number, kind, [&](CallbackId id) {
        if (++calls == 3) loop.cancel(id);
      });
    });
    arm.drive();
    EXPECT_EQ(calls, 3);
    closed.check();
  }
}

LOOP_CASE(LoopStreams, ARegularFileIsRefusedAtTheCall) {
  const int file = arm.keep(descriptor_calls().open_file());
  for (const std::string& text : {text_of<PollError>([&] { loop.on_readable(file, [] {}); }),
                                  text_of<PollError>([&] { loop.on_writable(file, [] {}); })}) {
    EXPECT_NE(text.find(std::to_string(file)), std::string::npos) << text;
  }
  arm.close(file);
  EXPECT_THROW(loop.on_readable(file, [] {}), PollError);
  EXPECT_TRUE(loop.identifiers().empty());
  arm.drive();
}

LOOP_CASE(LoopStreams, TheEndOfThePeerIsReadableAndHangUpIsWritableToo) {
  const StreamPair pair = arm.stream_pair();
  std::string order;
  std::string read = "nothing";
  int writable = 0;
  loop.on_readable(pair.near, [&](CallbackId) {
    order += 'r';
    read = arm.read(pair.near, 16);
  });
  loop.on_writable(pair.near, [&](CallbackId) {
    order += 'w';
    if (++writable == 3) loop.stop();
  });
  arm.close(pair.far);
  arm.drive();
  EXPECT_EQ(read, "");
  ASSERT_EQ(order.size(), 6u);
  for (const std::size_t tick : {0u, 1u, 2u}) {  // Each once in every one.
    EXPECT_EQ(in_open_order(order.substr(2 * tick, 2)), "rw");
  }
}

}  // namespace
}  // namespace fermata::conformance
