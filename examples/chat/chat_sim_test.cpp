// SPDX-License-Identifier: Apache-2.0

// The chat, unchanged, in a simulated network that delays, cuts up, refuses and breaks, with guests
// who read slowly, end their side early and come back.

#include <cstdio>
#include <fermata/sim.hpp>
#include <fermata/sim/run/explore.hpp>
#include <memory>
#include <string>
#include <vector>

#include "examples/chat/guest.hpp"
#include "examples/chat/room.hpp"

namespace {

using namespace std::chrono_literals;

constexpr std::size_t kGuests = 3;
constexpr std::size_t kLines = 4;  // Of each guest.
constexpr auto kUnwell = 60s;

/// A guest, what it is shown, and what it does beside talking.
class Visitor {
 public:
  Visitor(fermata::loop::Loop& loop, const fermata::Address& room, std::size_t number,
          std::function<void()> gone)
      : loop_(loop),
        gone_(std::move(gone)),
        guest_(loop, room, "guest" + std::to_string(number),
               [this](const std::string& line) { show(line); }) {
    talk();
  }
  [[nodiscard]] const std::vector<std::string>& shown() const { return shown_; }
  void leave() { guest_.leave(); }

 private:
  void talk() {
    if (++said_ > kLines) return;
    guest_.say("line " + std::string(fermata::random(200), 'x'));
    switch (fermata::random(6)) {
      case 0:
        guest_.fall_silent();
        break;
      case 1:
        read_slowly();
        break;
      case 2:
        guest_.connection().destroy();
        break;
      default:
        break;
    }
    loop_.delay(std::chrono::milliseconds(fermata::random(300)), [this] { talk(); });
  }

  void read_slowly() {
    guest_.connection().pause_receiving();
    loop_.delay(std::chrono::milliseconds(fermata::random(3'000)),
                [this] { guest_.connection().resume_receiving(); });
  }

  void show(const std::string& line) {
    shown_.push_back(line);
    if (shown_.size() != kGuests * kLines) return;
    guest_.leave();
    gone_();
  }

  fermata::loop::Loop& loop_;
  std::function<void()> gone_;
  std::size_t said_ = 0;
  std::vector<std::string> shown_;
  chat::Guest guest_;
};

/// All say what they have to say and are shown what all have said; the network gets well at last.
void chat_until_all_is_said(fermata::sim::World& world) {
  fermata::loop::Loop loop;
  chat::Room room(loop, {"127.0.0.1", 7800});
  std::size_t here = kGuests;
  std::vector<std::unique_ptr<Visitor>> visitors;
  world.at(kUnwell, [&] { world.heal(); });
  for (std::size_t i = 0; i < kGuests; ++i) {
    visitors.push_back(std::make_unique<Visitor>(loop, room.address(), i, [&] {
      if (--here == 0) room.stop();
    }));
  }
  const fermata::loop::RunReport report = loop.run();
  EXPECT_FALSE(report.stopped);
  EXPECT_EQ(report.suspended, 0u);
  EXPECT_EQ(loop.timer_count(), 0u);
  EXPECT_EQ(room.said().size(), kGuests * kLines);
  for (const auto& visitor : visitors) EXPECT_EQ(visitor->shown(), room.said());
  for (std::size_t i = 0; i < kGuests; ++i) {
    std::size_t next = 0;
    for (std::string_view line : room.said()) {
      if (chat::next_word(line) == "guest" + std::to_string(i)) {
        EXPECT_EQ(chat::next_number(line), ++next);
      }
    }
    EXPECT_EQ(next, kLines);
  }
  EXPECT_EQ(room.server().counters().accepted, room.server().counters().closed);
}

SIM_TEST(Chat, LosesNoLineAndShowsNoneTwice) { chat_until_all_is_said(world); }

TEST(ChatUnderFaults, SurvivesManySchedulesThatMeetEveryFaultOfTcp) {
  constexpr std::uint64_t kLeast = 3;
  fermata::sim::ExploreOptions options;
  options.name = "ChatUnderFaults";
  options.runs = 500;
  const auto result = explore(options, chat_until_all_is_said);
  ASSERT_FALSE(result.found) << "run " << result.found->run << ": " << result.found->failure.message
                             << "\n"
                             << result.found->failure.explanation << result.found->output;
  std::printf("%llu schedules, %llu distinct; faults fired:\n",
              static_cast<unsigned long long>(result.runs),
              static_cast<unsigned long long>(result.distinct_runs));
  for (std::size_t i = 0; i <= static_cast<std::size_t>(fermata::sim::Fault::SlowClose); ++i) {
    const char* name = to_string(static_cast<fermata::sim::Fault>(i));
    std::printf("  %-12s %llu\n", name, static_cast<unsigned long long>(result.fault_counts[i]));
    EXPECT_GE(result.fault_counts[i], kLeast) << name;
  }
}

}  // namespace
