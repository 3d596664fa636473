// SPDX-License-Identifier: Apache-2.0

// Threads of a simulated process that are cancelled, or get a signal, between the calls that wait.

#include <dirent.h>
#include <glob.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <functional>

#include "fermata/core/suspend.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

class CancelledThreads : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

using Body = void* (*)(void*);

pthread_t start(Body body, void* argument = nullptr) {
  pthread_t thread = 0;
  EXPECT_EQ(pthread_create(&thread, nullptr, body, argument), 0);
  return thread;
}

void expect_cancelled(pthread_t thread) {
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST_F(CancelledThreads, OneThatHasNotBegunEndsWhereItFirstWaits) {
  run_alone([] {
    static bool has_begun = false;
    const pthread_t thread = start([](void*) -> void* {
      has_begun = true;
      sleep(100);
      return nullptr;
    });
    EXPECT_EQ(pthread_cancel(thread), 0);
    expect_cancelled(thread);
    EXPECT_TRUE(has_begun);
  });
}

TEST_F(CancelledThreads, OneThatIsCancelledInASwitchEndsWhereItWaitsNext) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    begin(seed);
    run_alone([] {
      const pthread_t thread = start([](void*) -> void* {
        pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        for (int i = 0; i < 3; ++i) {
          pthread_mutex_lock(&mutex);
          pthread_mutex_unlock(&mutex);
        }
        sleep(100);
        return nullptr;
      });
      sched_yield();
      EXPECT_EQ(pthread_cancel(thread), 0);
      expect_cancelled(thread);
    });
  }
}

TEST_F(CancelledThreads, OneThatLoopsLetsOthersRun) {
  run_alone([] {
    static bool is_over = false;
    const pthread_t thread = start([](void*) -> void* {
      while (!is_over) sched_yield();
      return nullptr;
    });
    sched_yield();
    EXPECT_EQ(pthread_cancel(thread), 0);
    for (int i = 0; i < 10; ++i) sched_yield();
    is_over = true;
    void* result = nullptr;
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, nullptr);
  });
}

TEST_F(CancelledThreads, OneThatLetsItBeDoneAtOnceEndsWhereItWaitsForAMutex) {
  run_alone([] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    const pthread_t thread = start(
        [](void* wanted) -> void* {
          int before = PTHREAD_CANCEL_ASYNCHRONOUS;
          EXPECT_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &before), 0);
          EXPECT_EQ(before, PTHREAD_CANCEL_DEFERRED);
          pthread_mutex_lock(static_cast<pthread_mutex_t*>(wanted));
          return nullptr;
        },
        &mutex);
    sleep(1);
    EXPECT_EQ(pthread_cancel(thread), 0);
    expect_cancelled(thread);
    pthread_mutex_unlock(&mutex);
  });
}

TEST_F(CancelledThreads, OneThatLetsItBeDoneAtOnceEndsWhereItWaitsAtABarrier) {
  run_alone([] {
    pthread_barrier_t barrier;
    ASSERT_EQ(pthread_barrier_init(&barrier, nullptr, 2), 0);
    const pthread_t thread = start(
        [](void* shared) -> void* {
          pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
          pthread_barrier_wait(static_cast<pthread_barrier_t*>(shared));
          return nullptr;
        },
        &barrier);
    sleep(1);
    EXPECT_EQ(pthread_cancel(thread), 0);
    expect_cancelled(thread);
  });
}

TEST_F(CancelledThreads, ASignalThatComesAsWellKeepsNoneFromEnding) {
  run_alone([] {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const pthread_t thread = start(
        [](void* end) -> void* {
          char byte = 0;
          static_cast<void>(!read(*static_cast<int*>(end), &byte, 1));
          return nullptr;
        },
        ends.data());
    sleep(1);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
    expect_cancelled(thread);
    close(ends[0]);
    close(ends[1]);
  });
}

TEST_F(CancelledThreads, ADetachedOneThatHasEndedCannotBeJoined) {
  run_alone([] {
    const pthread_t thread = start([](void*) -> void* { return nullptr; });
    EXPECT_EQ(pthread_detach(thread), 0);
    sleep(1);
    EXPECT_EQ(pthread_join(thread, nullptr), EINVAL);
    EXPECT_EQ(pthread_detach(thread), EINVAL);
  });
}

TEST_F(CancelledThreads, AHandlerRunsInACallThatDoesNotWait) {
  run_alone([] {
    static bool is_told = false;
    struct sigaction action = {};
    action.sa_handler = [](int) { is_told = true; };
    ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
    const pthread_t thread = start([](void*) -> void* {
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      while (!is_told) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
      }
      return nullptr;
    });
    sched_yield();
    EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
  });
}

TEST_F(CancelledThreads, AskForAStackOfASize) {
  run_alone([] {
    static std::size_t asked = 64 * 1024;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    EXPECT_EQ(pthread_attr_setstacksize(&attributes, asked), 0);
    pthread_t thread = 0;
    const Body body = [](void*) -> void* {
      pthread_attr_t mine;
      EXPECT_EQ(pthread_getattr_np(pthread_self(), &mine), 0);
      std::size_t bytes = 0;
      pthread_attr_getstacksize(&mine, &bytes);
      EXPECT_EQ(bytes, asked);
      pthread_attr_destroy(&mine);
      return nullptr;
    };
    ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
    EXPECT_EQ(pthread_join(thread, nullptr), 0);
    pthread_attr_destroy(&attributes);
  });
}

TEST_F(CancelledThreads, AskForMoreStackThanThereIs) {
  world_->node("main", [] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 20);
    pthread_t thread = 0;
    const Body body = [](void*) -> void* { return nullptr; };
    EXPECT_EQ(pthread_create(&thread, &attributes, body, nullptr), EAGAIN);
    pthread_attr_destroy(&attributes);
  });
  world_->run();
  ASSERT_TRUE(world_->failure());
  EXPECT_EQ(world_->failure()->message,
            "pthread_create() asks for a stack of 67108864 bytes; a thread has 8388608");
}

TEST_F(CancelledThreads, CallsThatAreNoCancellationPointsGoOn) {
  run_alone([] {
    static bool has_gone_on = false;
    const pthread_t thread = start([](void*) -> void* {
      std::array<int, 2> ends{};
      EXPECT_EQ(pipe(ends.data()), 0);
      aio_context_t queue = 0;
      EXPECT_EQ(syscall(SYS_io_setup, 4, &queue), 0);
      EXPECT_EQ(mkdir("/made", 0755), 0);
      EXPECT_EQ(pthread_cancel(pthread_self()), 0);
      glob_t found = {};
      EXPECT_EQ(glob("/mad?", 0, nullptr, &found), 0);
      EXPECT_EQ(found.gl_pathc, 1u);
      globfree(&found);
      DIR* const directory = opendir("/made");
      EXPECT_NE(readdir(directory), nullptr);
      closedir(directory);
      char byte = 'x';
      for (const int opcode : {IOCB_CMD_PWRITE, IOCB_CMD_PREAD}) {
        iocb call = {};
        call.aio_lio_opcode = static_cast<std::uint16_t>(opcode);
        call.aio_fildes = static_cast<std::uint32_t>(ends[opcode == IOCB_CMD_PWRITE ? 1 : 0]);
        call.aio_buf = reinterpret_cast<std::uintptr_t>(&byte);
        call.aio_nbytes = 1;
        iocb* each = &call;
        EXPECT_EQ(syscall(SYS_io_submit, queue, 1L, &each), 1);
      }
      EXPECT_EQ(syscall(SYS_io_destroy, queue), 0);
      const int file = static_cast<int>(syscall(SYS_dup3, ends[0], 9, 0));
      const iovec piece = {&byte, 1};
      EXPECT_EQ(syscall(SYS_preadv, file, &piece, 1L, 0L), -1);
      EXPECT_EQ(errno, ESPIPE);
      has_gone_on = true;
      pthread_testcancel();
      return nullptr;
    });
    expect_cancelled(thread);
    EXPECT_TRUE(has_gone_on);
  });
}

}  // namespace
}  // namespace fermata::sim
