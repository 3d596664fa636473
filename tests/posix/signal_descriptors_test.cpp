// SPDX-License-Identifier: Apache-2.0

// Signals that a simulated process reads from a descriptor: signalfd().

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

sigset_t all_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int each : signals) sigaddset(&set, each);
  return set;
}

class SignalDescriptors : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", [body = std::move(body)] {
      const sigset_t blocked = all_of({SIGUSR1, SIGUSR2, SIGCHLD});
      EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, nullptr), 0);
      body();
    });
    run();
  }
};

bool has_signal(int descriptor) {
  pollfd asked = {descriptor, POLLIN, 0};
  return ::poll(&asked, 1, 0) == 1;
}

TEST_F(SignalDescriptors, GiveWhatIsPending) {
  run_alone([] {
    const sigset_t wanted = all_of({SIGUSR1, SIGCHLD});
    const int descriptor = signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    ASSERT_GE(descriptor, 0);
    EXPECT_FALSE(has_signal(descriptor));
    std::array<signalfd_siginfo, 3> told{};
    EXPECT_EQ(read(descriptor, told.data(), sizeof told), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_EQ(read(descriptor, told.data(), sizeof told[0] - 1), -1);
    EXPECT_EQ(errno, EINVAL);
    kill(getpid(), SIGCHLD);
    raise(SIGUSR1);
    raise(SIGUSR2);
    EXPECT_TRUE(has_signal(descriptor));
    EXPECT_EQ(read(descriptor, told.data(), sizeof told), ssize_t{2 * sizeof told[0]});
    EXPECT_EQ(told[0].ssi_signo, static_cast<unsigned>(SIGUSR1));
    EXPECT_EQ(told[0].ssi_code, SI_TKILL);
    EXPECT_EQ(told[1].ssi_signo, static_cast<unsigned>(SIGCHLD));
    EXPECT_EQ(told[1].ssi_pid, static_cast<unsigned>(getpid()));
    EXPECT_FALSE(has_signal(descriptor));
    close(descriptor);
  });
}

TEST_F(SignalDescriptors, LetTheirReaderWait) {
  run_alone([] {
    const sigset_t wanted = all_of({SIGUSR1});
    const int descriptor = signalfd(-1, &wanted, 0);
    std::thread sender([] {
      std::this_thread::sleep_for(1s);
      kill(getpid(), SIGUSR1);
    });
    signalfd_siginfo told = {};
    EXPECT_EQ(read(descriptor, &told, sizeof told), ssize_t{sizeof told});
    EXPECT_EQ(told.ssi_signo, static_cast<unsigned>(SIGUSR1));
    sender.join();
    close(descriptor);
  });
}

TEST_F(SignalDescriptors, AreWatchedByAnEpoll) {
  run_alone([] {
    const sigset_t wanted = all_of({SIGUSR1});
    const int descriptor = signalfd(-1, &wanted, SFD_NONBLOCK);
    const int epoll = epoll_create1(0);
    epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
    ASSERT_EQ(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event), 0);
    std::thread sender([] {
      std::this_thread::sleep_for(1s);
      kill(getpid(), SIGUSR1);
    });
    EXPECT_EQ(epoll_wait(epoll, &event, 1, -1), 1);
    EXPECT_EQ(event.data.fd, descriptor);
    sender.join();
    close(epoll);
    close(descriptor);
  });
}

TEST_F(SignalDescriptors, AreGivenAnotherSet) {
  run_alone([] {
    sigset_t wanted = all_of({SIGUSR1});
    const int descriptor = signalfd(-1, &wanted, SFD_NONBLOCK);
    raise(SIGUSR2);
    EXPECT_FALSE(has_signal(descriptor));
    wanted = all_of({SIGUSR2});
    EXPECT_EQ(signalfd(descriptor, &wanted, 0), descriptor);
    EXPECT_TRUE(has_signal(descriptor));
    EXPECT_EQ(signalfd(1000, &wanted, 0), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(signalfd(1, &wanted, 0), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(signalfd(-1, &wanted, 1), -1);
    EXPECT_EQ(errno, EINVAL);
    close(descriptor);
  });
}

TEST_F(SignalDescriptors, AreMadeByNumber) {
  run_alone([] {
    const sigset_t wanted = all_of({SIGUSR1});
    const long descriptor = syscall(SYS_signalfd4, -1, &wanted, 8, SFD_NONBLOCK);
    ASSERT_GE(descriptor, 0);
    raise(SIGUSR1);
    EXPECT_TRUE(has_signal(static_cast<int>(descriptor)));
    EXPECT_EQ(syscall(SYS_signalfd4, -1, &wanted, 4, 0), -1);
    EXPECT_EQ(errno, EINVAL);
    close(static_cast<int>(descriptor));
  });
}

// As on Linux: what is sent to one thread is not there for another one.
TEST_F(SignalDescriptors, GiveAThreadItsOwnSignals) {
  run_alone([] {
    static int descriptor;
    const sigset_t wanted = all_of({SIGUSR1});
    descriptor = signalfd(-1, &wanted, 0);
    pthread_t thread = 0;
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void*) -> void* {
                    signalfd_siginfo told = {};
                    EXPECT_EQ(read(descriptor, &told, sizeof told), ssize_t{sizeof told});
                    EXPECT_EQ(told.ssi_code, SI_USER);
                    return nullptr;
                  },
                  nullptr),
              0);
    raise(SIGUSR1);
    EXPECT_TRUE(has_signal(descriptor));
    delay(1s);
    EXPECT_EQ(pthread_tryjoin_np(thread, nullptr), EBUSY);
    kill(getpid(), SIGUSR1);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    signalfd_siginfo told = {};
    EXPECT_EQ(read(descriptor, &told, sizeof told), ssize_t{sizeof told});
    EXPECT_EQ(told.ssi_code, SI_TKILL);
    close(descriptor);
  });
}

}  // namespace
}  // namespace fermata::sim
