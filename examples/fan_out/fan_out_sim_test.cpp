// SPDX-License-Identifier: Apache-2.0

// Backends of any speed, some of which fail: what came in time is there, and nothing goes on.

#include <fermata/sim.hpp>

#include "examples/fan_out/fan_out.hpp"

namespace {

using namespace std::chrono_literals;

SIM_TEST(FanOut, GivesWhatCameInTimeAndLeavesNothingBehind) {
  int running = 0;
  std::vector<Backend> backends;
  for (int i = 0; i < 4; ++i) {
    const auto latency = std::chrono::milliseconds(1 + fermata::random(40));
    const bool fails = fermata::random(4) == 3;
    backends.push_back({"backend " + std::to_string(i), [&running, latency, fails, i] {
                          const struct Running {
                            explicit Running(int& count) : count_(count) { ++count_; }
                            ~Running() { --count_; }
                            int& count_;
                          } counted(running);
                          fermata::delay(latency);
                          if (fails) throw fermata::Error("no answer");
                          return i;
                        }});
  }
  const fermata::Instant begin = fermata::now();
  const std::vector<int> answers = ask_all(backends, 20ms);
  EXPECT_EQ(running, 0);
  EXPECT_LE(answers.size(), backends.size());
  EXPECT_GE(fermata::now() - begin, answers.empty() ? 0ms : 1ms);
}

}  // namespace
