// SPDX-License-Identifier: Apache-2.0

// A coroutine that is cancelled in foreign code: the calls say so, and the scope throws at its end.

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <string>
#include <vector>

#include "fermata/sync/await.hpp"
#include "tests/posix/suspending/fixture.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using posix::suspending;
using test::any;
using test::loopback;
using test::Pipe;
using test::told;
using test::Told;

class SuspendingCancelled : public test::OnEachDriver {
 protected:
  /// Runs `body` in a scope of a coroutine that is cancelled once it waits; returns what ended it.
  static std::string ending(detail::FunctionRef<void()> body) {
    std::string what = "nothing";
    run([&] {
      const auto cancelled = spawn([&] {
        try {
          suspending([&] { body(); });
        } catch (const Cancellation& cancellation) {
          what = cancellation.what();
        } catch (const Error& error) {
          what = describe(std::current_exception());
        }
      });
      suspend();
      cancelled.cancel();
      await(cancelled);
    });
    return what;
  }
};
INSTANTIATE_TEST_SUITE_P(Drivers, SuspendingCancelled, test::every_driver(), test::driver_name);

TEST_P(SuspendingCancelled, ACallIsInterruptedAndLaterOnesAreCancelled) {
  std::vector<Told> answers;
  EXPECT_EQ(ending([&] {
              const Pipe pipe;
              char byte = 0;
              for (int i = 0; i < 3; ++i) answers.push_back(told(::read(pipe.reading, &byte, 1)));
              pollfd asked = {pipe.reading, POLLIN, 0};
              answers.push_back(told(::poll(&asked, 1, -1)));
              answers.push_back(told(::usleep(1)));
              answers.push_back(told(::write(pipe.writing, "a", 1)));
              answers.push_back(told(::read(pipe.reading, &byte, 1)));
              answers.push_back(told(::close(::dup(pipe.reading))));
            }),
            "Coroutine cancelled");
  const Told cancelled = {-1, ECANCELED};
  EXPECT_EQ(answers,
            (std::vector<Told>{
                {-1, EINTR}, cancelled, cancelled, cancelled, cancelled, {1, 0}, {1, 0}, {0, 0}}));
}

TEST_P(SuspendingCancelled, ASleepTellsTheRest) {
  timespec left = {};
  Told told_by = {};
  ending([&] {
    const timespec hour = {.tv_sec = 3600, .tv_nsec = 0};
    told_by = told(::nanosleep(&hour, &left));
    EXPECT_EQ(::sleep(5), 5u);
  });
  EXPECT_EQ(told_by, (Told{-1, EINTR}));
  EXPECT_GT(left.tv_sec, 3500);
}

TEST_P(SuspendingCancelled, ALookUpIsAnErrorOfTheSystem) {
  ending([&] {
    EXPECT_EQ(::sleep(5), 5u);
    addrinfo* list = nullptr;
    const int code = ::getaddrinfo("127.0.0.1", nullptr, nullptr, &list);
    EXPECT_EQ(code, EAI_SYSTEM);
    EXPECT_EQ(errno, ECANCELED);
  });
}

TEST_P(SuspendingCancelled, WhatFollowsAnInterruptedConnectIsCancelled) {
  std::vector<Told> answers;
  ending([&] {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = loopback();
    ASSERT_EQ(::bind(listener, any(address), sizeof address), 0);
    ASSERT_EQ(::listen(listener, 0), 0);
    socklen_t size = sizeof address;
    ASSERT_EQ(::getsockname(listener, any(address), &size), 0);
    const int first = ::socket(AF_INET, SOCK_STREAM, 0);
    const int second = ::socket(AF_INET, SOCK_STREAM, 0);
    answers.push_back(told(::connect(first, any(address), sizeof address)));
    // The line of the listener is full.
    answers.push_back(told(::connect(second, any(address), sizeof address)));
    answers.push_back(told(::connect(second, any(address), sizeof address)));
    answers.push_back(told(::send(second, "a", 1, 0)));
    for (const int each : {listener, first, second}) answers.push_back(told(::close(each)));
  });
  const Told cancelled = {-1, ECANCELED};
  EXPECT_EQ(answers,
            (std::vector<Told>{{0, 0}, {-1, EINTR}, cancelled, cancelled, {0, 0}, {0, 0}, {0, 0}}));
}

TEST_P(SuspendingCancelled, AnInterruptedConnectOfAUnixSocketIsCancelledToo) {
  std::vector<Told> answers;
  ending([&] {
    // No room in the line of the listener: the client waits for that.
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    const std::string name = '\0' + ("fermata.suspending." + std::to_string(::getpid()));
    name.copy(address.sun_path, name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    const auto* const spelled = reinterpret_cast<const sockaddr*>(&address);
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    ASSERT_EQ(::bind(listener, spelled, size), 0);
    ASSERT_EQ(::listen(listener, 0), 0);
    const int first = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int second = ::socket(AF_UNIX, SOCK_STREAM, 0);
    answers.push_back(told(::connect(first, spelled, size)));
    answers.push_back(told(::connect(second, spelled, size)));
    answers.push_back(told(::connect(second, spelled, size)));
    for (const int each : {listener, first, second}) answers.push_back(told(::close(each)));
  });
  EXPECT_EQ(answers,
            (std::vector<Told>{{0, 0}, {-1, EINTR}, {-1, ECANCELED}, {0, 0}, {0, 0}, {0, 0}}));
}

TEST_P(SuspendingCancelled, APollingLoopIsToldToo) {
  std::vector<Told> answers;
  EXPECT_EQ(ending([&] {
              const Pipe pipe;
              pollfd asked = {pipe.reading, POLLIN, 0};
              while (answers.size() < 3) {
                const Told answer = told(::poll(&asked, 1, 0));
                if (answer.result != 0) answers.push_back(answer);
              }
            }),
            "Coroutine cancelled");
  const Told cancelled = {-1, ECANCELED};
  EXPECT_EQ(answers, (std::vector<Told>{{-1, EINTR}, cancelled, cancelled}));
}

TEST_P(SuspendingCancelled, ALoopThatGoesOnForeverIsLeft) {
  int calls = 0;
  const std::string what = ending([&] {
    for (;; ++calls) ::usleep(1'000'000);
  });
  EXPECT_EQ(calls, 10'001);
  EXPECT_TRUE(what.starts_with("fermata::UsageError: suspending at ")) << what;
  EXPECT_NE(what.find("cancellation_test.cpp"), std::string::npos) << what;
  EXPECT_NE(what.find("has ignored that 10000 times"), std::string::npos) << what;
  EXPECT_NE(what.find("Coroutine cancelled"), std::string::npos) << what;
}

TEST_P(SuspendingCancelled, AnErrorOfTheFunctionIsBehindTheCancellation) {
  run([] {
    const auto failing = spawn([] {
      suspending([] {
        EXPECT_EQ(::sleep(5), 5u);
        throw InputOutputError("the library has failed");
      });
    });
    suspend();
    failing.cancel();
    try {
      await(failing);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Cancellation&) {
      const std::string what = describe(std::current_exception());
      EXPECT_NE(what.find("the library has failed"), std::string::npos) << what;
    }
  });
}

TEST_P(SuspendingCancelled, ARunThatEndsUnwindsAScope) {
  std::vector<Told> answers;
  Runtime runtime(loop::make_reactor(GetParam()), {.shutdown_deadline = 1ms});
  EXPECT_EQ(runtime.run([&] {
    spawn([&] {
      suspending([&] {
        for (int i = 0; i < 3; ++i) answers.push_back(told(::usleep(3'600'000)));
      });
      ADD_FAILURE() << "the scope has not thrown";
    });
    suspend();
    exit_with(3);
  }),
            3);
  const Told cancelled = {-1, ECANCELED};
  EXPECT_EQ(answers, (std::vector<Told>{{-1, EINTR}, cancelled, cancelled}));
}

}  // namespace
}  // namespace fermata
