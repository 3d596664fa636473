// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/reactor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pty.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/signal.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/tty.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/poll_arm.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/open_descriptors.hpp"
#include "tests/unit/poll/counting_backend.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using conformance::PollArm;
using test::open_descriptors;
using test::thrown_by;

class PollReactor : public ::testing::Test, protected PollArm {};

backend::Reactor& reactor() { return current_runtime().reactor(); }
std::string name() { return std::string(reactor().name()); }

// --- what it serves ---

MAIN_TEST_F(PollReactor, NamesThePartThatItHasNot) {
  const std::string prefix = "fermata::Unsupported: reactor '" + name() + "' has no part '";
  EXPECT_EQ(thrown_by([] { (void)reactor().datagrams(); }), prefix + "datagrams'");
  EXPECT_EQ(thrown_by([] { (void)reactor().files(); }), prefix + "files'");
  EXPECT_EQ(thrown_by([] { (void)reactor().names(); }), prefix + "names'");
  EXPECT_EQ(thrown_by([] { (void)reactor().processes(); }), prefix + "processes'");
  EXPECT_EQ(thrown_by([] { (void)reactor().file_watches(); }), prefix + "file watches'");
  EXPECT_EQ(thrown_by([] { (void)reactor().threads(); }), prefix + "threads'");
  EXPECT_EQ(thrown_by([] { (void)PipeListener::bind("/tmp/fermata-nobody"); }),
            prefix + "Unix sockets'");
  EXPECT_EQ(thrown_by([] { (void)PipeStream::connect("/tmp/fermata-nobody"); }),
            prefix + "Unix sockets'");
  EXPECT_EQ(thrown_by([] { (void)reactor().streams().open_pipe(); }), prefix + "pipes'");
  EXPECT_EQ(
      thrown_by([] { (void)reactor().streams().open_standard(backend::StandardStream::Input); }),
      prefix + "standard input'");
  delay(1ms);  // The run goes on.
}

TEST_F(PollReactor, LeavesNothingBehind) {
  PollArm::run([] { offload([] {}); });  // The pool's threads come and stay.
  const auto before = open_descriptors();
  PollArm::run([] {
    TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
    TcpStream client = TcpStream::connect(listener.local_address());
    const auto server = listener.accept();
    client.write("unread");
    const int event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    Descriptor descriptor(event, DescriptorOwner::Runtime);
    EXPECT_THROW(descriptor.wait(PollMask::Readable | PollMask::Disconnect, {.timeout = 1ms}),
                 Timeout);
  });
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(PollReactor, MayBeUsedByOneRuntimeAfterTheOther) {
  for (const poll::BackendKind kind : poll::available_backends()) {
    SCOPED_TRACE(poll::to_string(kind));
    Runtime runtime(poll::make_reactor(poll::make_backend(kind)), {.handle_stop_signals = false});
    for (int i = 0; i < 3; ++i) {
      int done = 0;
      runtime.run([&] {
        delay(1ms);
        done = offload([] { return 7; });
      });
      EXPECT_EQ(done, 7);
    }
  }
}

TEST_F(PollReactor, TakesABackendOfTheProgramsOwn) {
  auto backend = std::make_unique<test::CountingBackend>();
  const test::CountingBackend& counting = *backend;
  Runtime runtime(poll::make_reactor(std::move(backend)));
  runtime.run([&] {
    delay(2ms);
    EXPECT_GE(counting.waits, 1);
    EXPECT_EQ(thrown_by([] { (void)reactor().files(); }),
              "fermata::Unsupported: reactor 'counting' has no part 'files'");
  });
}

TEST_F(PollReactor, RefusesToBeMadeWithoutABackend) {
  EXPECT_EQ(thrown_by([] { (void)poll::make_reactor(nullptr); }),
            "fermata::UsageError: make_reactor: expected a backend");
}

// --- time and waking ---

MAIN_TEST_F(PollReactor, IsNeverEarly) {
  for (int i = 0; i < 50; ++i) {
    const Duration span = std::chrono::microseconds(i * 37 % 1500);
    const Instant before = now();
    delay(span);
    EXPECT_GE(now() - before, span);
  }
}

TEST_F(PollReactor, GoesOnWaitingAfterASignalThatIsNoConcernOfIts) {
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR2, &action, &before), 0);
  PollArm::run([] {
    const int event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    Descriptor descriptor(event, DescriptorOwner::Runtime);
    const Instant start = now();
    std::thread sender([self = ::pthread_self()] {
      for (int i = 0; i < 20; ++i) {
        ::pthread_kill(self, SIGUSR2);
        std::this_thread::yield();
      }
    });
    EXPECT_THROW(descriptor.wait_readable({.timeout = 5ms}), Timeout);
    EXPECT_GE(now() - start, Duration(5ms));
    sender.join();
  });
  ::sigaction(SIGUSR2, &before, nullptr);
}

MAIN_TEST_F(PollReactor, IsWokenByASignalHandlerWhileItWaits) {
  SignalWatch watch(SIGUSR1);
  std::thread sender([self = ::pthread_self()] { ::pthread_kill(self, SIGUSR1); });
  EXPECT_NO_THROW(watch.wait({.timeout = 10s}));
  sender.join();
}

// --- signals ---

MAIN_TEST_F(PollReactor, RefusesSignalsThatNobodyCanHandle) {
  for (const int signum : {SIGKILL, SIGSTOP, 0, -1, NSIG}) {
    EXPECT_EQ(thrown_by([&] { wait_signal(signum); }),
              "fermata::UsageError: signal " + std::to_string(signum) +
                  ": expected one that a program can handle");
  }
  std::raise(SIGURG);  // Which is ignored.
  delay(1ms);
}

TEST_F(PollReactor, PutsBackTheDispositionThatItFound) {
  struct sigaction before = {};
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  ASSERT_EQ(::sigaction(SIGUSR2, &ignore, &before), 0);
  PollArm::run([] {
    {
      const SignalWatch watch(SIGUSR2);
      struct sigaction now = {};
      ::sigaction(SIGUSR2, nullptr, &now);
      EXPECT_NE(now.sa_handler, SIG_IGN);
    }
    struct sigaction now = {};
    ::sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_IGN);
  });
  ::sigaction(SIGUSR2, &before, nullptr);
}

// --- descriptors ---

MAIN_TEST_F(PollReactor, WatchesSocketsPipesTerminalsAndCounters) {
  std::vector<int> watched;
  watched.push_back(::eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC));
  watched.push_back(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  const itimerspec soon = {{}, {0, 1'000'000}};
  ::timerfd_settime(watched.back(), 0, &soon, nullptr);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  watched.push_back(ends[0]);
  int master = -1;
  int slave = -1;
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
  ASSERT_EQ(::write(master, "line\n", 5), 5);
  watched.push_back(slave);
  for (const int each : watched) EXPECT_EQ(Descriptor(each).wait_readable(), PollMask::Readable);
  watched.insert(watched.end(), {ends[1], master});
  for (const int each : watched) ::close(each);
}

MAIN_TEST_F(PollReactor, RefusesFoldersAndFilesAndWhatIsNotOpen) {
  const int folder = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const auto refusal = [](int descriptor) {
    return thrown_by([&] { const Descriptor refused(descriptor); });
  };
  const auto text = [](int descriptor, const std::string& why) {
    return "fermata::PollError: watch descriptor " + std::to_string(descriptor) + ": " + why;
  };
  const std::string expected = "expected a socket, a pipe or a device, got a ";
  EXPECT_EQ(refusal(folder), text(folder, expected + "directory"));
  EXPECT_EQ(refusal(file), text(file, expected + "regular file"));
  ::close(file);
  EXPECT_EQ(refusal(file), text(file, "Bad file descriptor"));
  EXPECT_EQ(refusal(1'000'000), text(1'000'000, "Bad file descriptor"));
  ::close(folder);
  delay(1ms);  // The run goes on.
}

/// Two connected TCP sockets, which the program has to itself.
class TcpPair {
 public:
  TcpPair() {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in place = {};
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof place;
    EXPECT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&place), size), 0);
    EXPECT_EQ(::listen(listener, 1), 0);
    EXPECT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&place), &size), 0);
    here = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::connect(here, reinterpret_cast<sockaddr*>(&place), size), 0);
    there = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    ::close(listener);
  }
  ~TcpPair() {
    ::close(here);
    ::close(there);
  }

  int here = -1;
  int there = -1;
};

MAIN_TEST_F(PollReactor, TellsWhatBackendsHaveNoWordFor) {
  const TcpPair pair;
  Descriptor descriptor(pair.here);
  ASSERT_EQ(::send(pair.there, "plain", 5, 0), 5);
  EXPECT_EQ(descriptor.wait_readable(), PollMask::Readable);
  EXPECT_THROW(descriptor.wait(PollMask::Prioritized, {.timeout = 2ms}), Timeout);
  EXPECT_THROW(descriptor.wait(PollMask::Disconnect, {.timeout = 2ms}), Timeout);
  ASSERT_EQ(::send(pair.there, "!", 1, MSG_OOB), 1);
  EXPECT_EQ(descriptor.wait(PollMask::Prioritized), PollMask::Prioritized);
  ::shutdown(pair.there, SHUT_WR);
  EXPECT_TRUE(any(descriptor.wait(PollMask::Disconnect) & PollMask::Disconnect));
}

MAIN_TEST_F(PollReactor, OneWaiterLessDoesNotSilenceTheOther) {
  const TcpPair pair;
  Descriptor descriptor(pair.here);
  auto reader = spawn("reader", [&] { return descriptor.wait_readable(); });
  suspend();
  EXPECT_EQ(descriptor.wait_writable(), PollMask::Writable);  // And is gone.
  ASSERT_EQ(::send(pair.there, "x", 1, 0), 1);
  EXPECT_EQ(await(reader), PollMask::Readable);
}

MAIN_TEST_F(PollReactor, AStreamMayHaveTheNumberOfADescriptorThatWasClosedUnderItsWatch) {
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  const int number = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  Descriptor descriptor(number);
  auto waiter = spawn("waiter", [&] { return descriptor.wait_readable(); });
  suspend();
  ::close(number);
  TcpStream client = TcpStream::connect(listener.local_address());  // The lowest number is free.
  auto server = listener.accept();
  server->write("ping");
  std::array<std::byte, 4> bytes{};
  client.read_exact(bytes);
  EXPECT_EQ(bytes[0], std::byte{'p'});
  EXPECT_EQ(await(waiter), PollMask::Disconnect);
  client.write("pong");
  server->read_exact(bytes);
  EXPECT_EQ(bytes[3], std::byte{'g'});
}

/// All numbers below 1024 are taken while this lives.
class Crowd {
 public:
  Crowd() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit more = before_;
    more.rlim_cur = std::min<rlim_t>(more.rlim_max, 4096);
    setrlimit(RLIMIT_NOFILE, &more);
    for (int next = ::dup(0); next >= 0; next = ::dup(0)) {
      taken_.push_back(next);
      if (next >= 1023) break;
    }
  }
  ~Crowd() {
    for (const int each : taken_) ::close(each);
    setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_ = {};
  std::vector<int> taken_;
};

MAIN_TEST_F(PollReactor, ThatCannotWatchHighNumbersIsOutOfDescriptors) {
  TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
  std::optional<Crowd> crowd(std::in_place);
  const std::string error = thrown_by([&] { (void)TcpStream::connect(listener.local_address()); });
  if (name() == "pselect") {
    EXPECT_EQ(error, "fermata::InputOutputError: connect to " + listener.local_address().text() +
                         ": Too many open files");
    EXPECT_THROW((void)TcpListener::bind({"127.0.0.1", 0}), PollError);
  } else {
    EXPECT_EQ(error, "");
  }
  crowd.reset();
  const TcpStream client = TcpStream::connect(listener.local_address());
}

// --- offload ---

MAIN_TEST_F(PollReactor, WorkRunsOnOtherThreadsAtTheSameTime) {
  const auto here = std::this_thread::get_id();
  std::vector<Coroutine<bool>> works;
  for (int i = 0; i < 12; ++i) {
    works.push_back(spawn(
        "work", [&] { return offload([here] { return std::this_thread::get_id() != here; }); }));
  }
  for (auto& work : works) EXPECT_TRUE(await(work));
  EXPECT_EQ(thrown_by([] { offload([] { throw UsageError("too heavy"); }); }),
            "fermata::UsageError: too heavy");
}

}  // namespace
}  // namespace fermata
