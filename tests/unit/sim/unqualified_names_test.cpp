// SPDX-License-Identifier: Apache-2.0
// The names that programs use, without their namespaces beside the C library's. In a namespace of
// its own, so that the directives reach no other file; names of the global namespace count as much
// as they would there.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "fermata/io/exec.hpp"
#include "fermata/runtime.hpp"
#include "fermata/sim.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace program_of_a_user {
namespace {

using namespace fermata;       // NOLINT(google-build-using-namespace)
using namespace fermata::sim;  // NOLINT(google-build-using-namespace)
using namespace std::chrono_literals;

[[maybe_unused]] void leaves() { exit_with(random(2) == 0 ? 0 : 1); }

[[maybe_unused]] void runs_commands() {
  std::vector<std::string> lines;
  const OutputSink sink = [](std::string_view) {};
  const ExecResult results[] = {exec("uptime"), exec_lines("uptime", lines),
                                exec_tee("uptime", sink), exec_to("uptime", sink),
                                exec_output("uptime")};
  static_cast<void>(results);
}

[[maybe_unused]] void values_and_decisions(Context values, backend::RandomStream stream) {
  static_cast<void>(values);
  static_cast<void>(stream);
}

void waits_for_others() {
  auto answer = spawn("answer", [] {
    delay(random(3) * 1ms);
    suspend();
    return random_bits();
  });
  Channel<int> channel("numbers", 1);
  channel.send(1);
  EXPECT_EQ(channel.recv(), 1);
  channel.close();
  EXPECT_TRUE(channel.is_closed());
  Mutex mutex;
  mutex.lock();
  mutex.unlock();
  const std::vector<Coroutine<std::uint64_t>> all = {answer};
  EXPECT_EQ(when_all(all).size(), 1u);
  EXPECT_EQ(when_all_settled(all).errors.size(), 0u);
  EXPECT_EQ(*when_any(all), await(answer));
  EXPECT_GE(now(), Instant());
}

TEST(UnqualifiedNames, DoNotClashWithTheLibraryOfC) {
  fermata::test::TestRuntime fixture;
  fixture.run([] { waits_for_others(); });
}

}  // namespace
}  // namespace program_of_a_user
