// SPDX-License-Identifier: Apache-2.0

// Where scopes are refused, and whose calls they serve.

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "fermata/core/microtasks.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/sync/await.hpp"
#include "tests/posix/suspending/fixture.hpp"
#include "tests/support/error_of.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using posix::suspending;
using test::error_of;
using test::Pipe;
using test::read_some;
using test::told;
using test::Told;

class SuspendingScope : public test::OnEachDriver {};
INSTANTIATE_TEST_SUITE_P(Drivers, SuspendingScope, test::every_driver(), test::driver_name);

const char* const kRefused =
    "suspending: the scheduler's own context and callbacks must not suspend";

TEST(SuspendingRefused, OutsideOfARun) {
  EXPECT_THROW(suspending([] {}), UsageError);
}

TEST_P(SuspendingScope, IsRefusedInACallback) {
  run([] {
    Timer timer(current_runtime(), 1ms);
    std::string what;
    const Subscription subscription = subscribe(
        timer, [&](Event&, const Outcome&) { what = error_of([] { suspending([] {}); }); });
    wait(timer);
    EXPECT_EQ(what, kRefused);
  });
}

TEST_P(SuspendingScope, IsRefusedInASwitchHandler) {
  class Handler final : public backend::SwitchHandler {
   public:
    bool on_switch(CoroutineBase&, backend::SwitchMoment) override {
      what = error_of([] { suspending([] {}); });
      return false;
    }
    std::string what;
  };
  run([] {
    const auto handler = std::make_shared<Handler>();
    add_switch_handler(handler);
    suspend();
    EXPECT_EQ(handler->what, kRefused);
  });
}

TEST_P(SuspendingScope, ReturnsWhatItsFunctionReturns) {
  run([] {
    int number = 3;
    EXPECT_EQ(suspending([] { return 7; }), 7);
    EXPECT_EQ(&suspending([&]() -> int& { return number; }), &number);
    EXPECT_EQ(*suspending([] { return std::make_unique<int>(5); }), 5);
    EXPECT_EQ(error_of([] { suspending([] { throw InputOutputError("read", EIO); }); }, EIO),
              "read: Input/output error");
    EXPECT_EQ(posix::serving, nullptr);
  });
}

TEST_P(SuspendingScope, OneInsideOfAnotherIsOneWithIt) {
  run([] {
    suspending([] {
      posix::Kernel* const kernel = posix::serving;
      EXPECT_NE(kernel, nullptr);
      suspending([&] { EXPECT_EQ(posix::serving, kernel); });
      EXPECT_EQ(posix::serving, kernel);
    });
    EXPECT_EQ(posix::serving, nullptr);
  });
}

// Whoever runs while the coroutine waits has the system's calls, also on its stack.
TEST_P(SuspendingScope, IsOffWhileItsCoroutineWaits) {
  run([] {
    std::vector<posix::Kernel*> seen;
    Timer timer(current_runtime(), 1ms);
    const Subscription subscription =
        subscribe(timer, [&](Event&, const Outcome&) { seen.push_back(posix::serving); });
    timer.start();
    const auto other = spawn([&] { seen.push_back(posix::serving); });
    suspending([&] {
      ::usleep(5'000);
      EXPECT_NE(posix::serving, nullptr);
    });
    await(other);
    EXPECT_EQ(seen, (std::vector<posix::Kernel*>{nullptr, nullptr}));
  });
}

TEST_P(SuspendingScope, EachCoroutineHasItsOwn) {
  run([] {
    std::vector<posix::Kernel*> kernels(2);
    std::vector<Coroutine<>> both;
    for (posix::Kernel*& kernel : kernels) {
      both.push_back(spawn([&kernel] {
        suspending([&] {
          kernel = posix::serving;
          for (int i = 0; i < 10; ++i) {
            ::usleep(100);
            EXPECT_EQ(posix::serving, kernel);
          }
        });
        EXPECT_EQ(posix::serving, nullptr);
      }));
    }
    for (const auto& each : both) await(each);
    EXPECT_NE(kernels[0], kernels[1]);
  });
}

TEST_P(SuspendingScope, OperationsOfFermataWorkInside) {
  run([] {
    TcpListener listener = TcpListener::bind(Address::v4(INADDR_LOOPBACK, 0));
    const auto server = spawn([&] { suspending([&] { listener.accept()->write("hello"); }); });
    suspending([&] {
      TcpStream stream = TcpStream::connect(listener.local_address());
      std::vector<std::byte> buffer(5);
      stream.read_exact(buffer);
      delay(1ms);
      EXPECT_NE(posix::serving, nullptr);
    });
    await(server);
  });
}

TEST_P(SuspendingScope, ErrnoIsThatOfTheCoroutine) {
  run([] {
    const auto other = spawn([] {
      for (int i = 0; i < 5; ++i) {
        errno = EDOM;
        suspend();
      }
    });
    suspending([] {
      errno = ERANGE;
      suspend();
      EXPECT_EQ(errno, ERANGE);
      EXPECT_EQ(::usleep(100), 0);
      EXPECT_EQ(errno, ERANGE);
    });
    await(other);
  });
}

bool is_blocked(int signum) {
  sigset_t mask = {};
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signum) == 1;
}

void set_blocked(int signum, bool blocked) {
  sigset_t mask = {};
  sigemptyset(&mask);
  sigaddset(&mask, signum);
  pthread_sigmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &mask, nullptr);
}

TEST_P(SuspendingScope, TheMaskOfSignalsIsThatOfTheCoroutine) {
  run([] {
    set_blocked(SIGUSR1, true);
    bool mine_elsewhere = true;
    bool others_elsewhere = false;
    const auto other = spawn([&] {
      mine_elsewhere = is_blocked(SIGUSR2);
      others_elsewhere = is_blocked(SIGUSR1);
    });
    suspending([] {
      set_blocked(SIGUSR2, true);
      ::usleep(1'000);
      EXPECT_TRUE(is_blocked(SIGUSR2));
      EXPECT_TRUE(is_blocked(SIGUSR1));
      set_blocked(SIGUSR2, false);
      ::usleep(1'000);
      EXPECT_FALSE(is_blocked(SIGUSR2));
    });
    await(other);
    EXPECT_FALSE(mine_elsewhere);
    EXPECT_TRUE(others_elsewhere);
    EXPECT_TRUE(is_blocked(SIGUSR1));
    set_blocked(SIGUSR1, false);
  });
}

// A library that holds a mutex while it waits.
TEST_P(SuspendingScope, AMutexOfAnotherCoroutineEndsTheProgramWithAWord) {
  run([] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const auto holder = spawn("holder", [&] {
      suspending([&] {
        pthread_mutex_lock(&mutex);
        ::usleep(1'000);
        pthread_mutex_unlock(&mutex);
      });
    });
    suspend();
    const auto lock = [&] {
      pthread_mutex_lock(&mutex);
      pthread_mutex_unlock(&mutex);
    };
    const auto* const expected =
        "fermata: main locks a mutex in suspending_test that holder holds, which waits in "
        "suspending at .*scope_test.cpp:.* on the same thread: both would wait forever";
    EXPECT_DEATH(suspending(lock), expected);
    EXPECT_DEATH(lock(), "a coroutine outside of a scope locks a mutex in .* that holder holds");
    await(holder);
    suspending(lock);
    lock();
  });
}

// Nothing can be suspended there.
TEST_P(SuspendingScope, ACallThatWaitsInACallbackBlocksTheThread) {
  run([] {
    suspending([] {
      const Pipe pipe;
      std::string received;
      Timer timer(current_runtime(), 1ms);
      std::thread writer([&] { EXPECT_EQ(::write(pipe.writing, "a", 1), 1); });
      const Subscription subscription =
          subscribe(timer, [&](Event&, const Outcome&) { received = read_some(pipe.reading); });
      wait(timer);
      EXPECT_EQ(received, "a");
      writer.join();
    });
  });
}

}  // namespace
}  // namespace fermata
