// SPDX-License-Identifier: Apache-2.0

// Signals that nobody asked this runtime about, all the time: what they interrupt goes on.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <span>
#include <string>

#include "fermata/core/spawn.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/exec.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/scratch_folder.hpp"
#include "tests/conformance/uv_arm.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

std::atomic<int> interruptions = 0;

/// Sends SIGALRM thousands of times a second while it lives; it restarts no system call.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action = {};
    action.sa_handler = [](int) { ++interruptions; };
    ::sigaction(SIGALRM, &action, &before_);
    set_interval(200);
  }
  ~SignalStorm() {
    set_interval(0);
    ::sigaction(SIGALRM, &before_, nullptr);
  }

 private:
  static void set_interval(suseconds_t microseconds) {
    const itimerval interval = {{0, microseconds}, {0, microseconds}};
    ::setitimer(ITIMER_REAL, &interval, nullptr);
  }

  struct sigaction before_ = {};
};

using UvInterruption = conformance::ScratchFolder<conformance::UvArm>;

TEST_F(UvInterruption, NothingFailsAndNothingIsLost) {
  const SignalStorm storm;
  conformance::UvArm::run([this] {
    for (int round = 0; round < 20; ++round) {
      auto listener = TcpListener::bind({"127.0.0.1", 0});
      auto sender = spawn("sender", [&] {
        auto stream = TcpStream::connect(listener.local_address());
        stream.write(std::string(300'000, 'x'));
      });
      auto peer = listener.accept();
      std::array<std::byte, 5000> buffer;
      std::size_t received = 0;
      while (const std::size_t size = peer->read(buffer)) received += size;
      await(sender);
      EXPECT_EQ(received, 300'000u);

      EXPECT_FALSE(resolve("127.0.0.1", "80").empty());

      const std::string text(100'000, static_cast<char>('a' + round));
      fs::write_file(path("file"), text);
      EXPECT_EQ(fs::read_file(path("file")), text);

      const ExecResult said = exec("echo said; exit 3");
      EXPECT_EQ(said.text, "said");
      EXPECT_EQ(said.exit.exit_code(), 3);

      const Instant began = now();
      delay(2ms);
      EXPECT_GE(now() - began, 2ms);
    }
  });
  EXPECT_GT(interruptions.load(), 20);
}

}  // namespace
}  // namespace fermata
