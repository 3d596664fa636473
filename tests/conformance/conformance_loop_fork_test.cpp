// SPDX-License-Identifier: Apache-2.0
//
// What a fork in a callback does to a loop, and to its copy in the child.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string>

#include "fermata/io/offload.hpp"
#include "tests/conformance/loop_case.hpp"

namespace fermata::conformance {
namespace {

class LoopFork : public LoopCase {};
INSTANTIATE_TEST_SUITE_P(Arms, LoopFork, real_arms(), arm_name);

struct ForkedEnd {
  int status = 0;  // As waitpid() tells it.
  std::string said;
};

/// Forks; `child` runs in the child, whose standard error is kept, for some seconds at most.
template <class Child>
ForkedEnd end_of_fork(Child child) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return {};
  const pid_t process = ::fork();
  if (process == 0) {
    ::dup2(pipe[1], STDERR_FILENO);
    ::alarm(3);
    child();
    return {};
  }
  ::close(pipe[1]);
  ForkedEnd end;
  std::array<char, 512> piece{};
  for (ssize_t size = 0; (size = ::read(pipe[0], piece.data(), piece.size())) > 0;) {
    end.said.append(piece.data(), static_cast<std::size_t>(size));
  }
  ::close(pipe[0]);
  while (::waitpid(process, &end.status, 0) < 0 && errno == EINTR) {
  }
  return end;
}

TEST_P(LoopFork, AChildThatGoesOnInTheLoopIsStoppedAtOnceAndTheParentGoesOn) {
  bool is_child = false;
  int calls = 0;
  ForkedEnd end;
  on_arm([&](LoopArm& arm) {
    arm.loop().defer([&] { end = end_of_fork([&] { is_child = true; }); });
    arm.loop().delay(20ms, [&] { ++calls; });
    arm.drive();
    if (is_child) ::_exit(7);
  });
  if (is_child) ::_exit(8);
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGABRT) << end.status;
  EXPECT_NE(end.said.find("call exec or _exit in the child"), std::string::npos) << end.said;
}

TEST_P(LoopFork, AChildThatCallsExitLeavesTheParentsLoopAlone) {
  int calls = 0;
  on_arm([&](LoopArm& arm) {
    arm.loop().delay(1ms, [&] { EXPECT_EQ(end_of_fork([] { ::_exit(0); }).status, 0); });
    arm.loop().delay(20ms, [&] { ++calls; });
    const StreamPair pair = arm.stream_pair();
    arm.write(pair.far, "x");
    CallbackId id = 0;
    id = arm.loop().on_readable(pair.near, [&] {
      ++calls;
      arm.loop().cancel(id);
    });
    arm.drive();
  });
  EXPECT_EQ(calls, 2);
}

TEST_P(LoopFork, ALoopThatIsMadeInTheChildWorks) {
  const auto run_one = [] {
    int calls = 0;
    on_arm([&](LoopArm& arm) {
      arm.loop().delay(1ms, [&] { ++calls; });
      arm.loop().defer([&] {
        const loop::KeepAlive until_it_has_ended = arm.loop().keep_alive();
        calls += offload([] { return 1; });
      });
      arm.drive();
    });
    return calls;
  };
  EXPECT_EQ(run_one(), 2);
  EXPECT_EQ(end_of_fork([&] { ::_exit(run_one()); }).status, 2 << 8);
}

}  // namespace
}  // namespace fermata::conformance
