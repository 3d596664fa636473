// SPDX-License-Identifier: Apache-2.0

// Machines that go down and come up again.

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/world/world_state.hpp"

namespace fermata::sim::detail {

namespace {

/// In the trace, of no kind of traces: a node goes down.
constexpr std::uint64_t kCrash = 0xfe;

// Of a crash that is a fault.
constexpr Odds kDelay = {1, 4};  // Between two waits instead of at one.
constexpr Duration kLeastTime = std::chrono::microseconds(100);
constexpr std::uint64_t kTimes = 16;  // Each twice the one before; the longest is 3 s.

}  // namespace

void WorldState::outside(std::function<void()> action) {
  if (running_node_ == nullptr) return action();
  later(Duration::zero(), std::move(action));
}

void WorldState::crash(NodeState& node) {
  FERMATA_REQUIRE(in_run_, "crash: the world does not run");
  if (node.phase() == NodeState::Phase::Ended) {
    throw UsageError(fmt::format("crash: node '{}' is not up", node.name()));
  }
  outside([this, &node] { crash_now(node); });
}

// What the program does while it is unwound happens in a run that is over.
void WorldState::crash_now(NodeState& node) {
  if (node.phase() == NodeState::Phase::Ended) return;
  FERMATA_ASSERT(running_node_ == nullptr);
  FERMATA_ASSERT(!node.is_thread());
  node.note_course(true);
  node.advance(node.earliest_visible_time());  // It may have been idle for long.
  const bool silent =
      drawn_at_crash(node, RandomStream::Network, 0, "silence when '{}' crashes", 2) != 0;
  node.record_incident("crash", silent ? "crashes, silently" : "crashes");
  network_.crash(node, silent);
  hash.add(kCrash, 0, node.key());
  const auto so_far = hash;
  hash.stop();
  for (auto thread = threads_.rbegin(); thread != threads_.rend(); ++thread) {
    if (&(*thread)->machine() == &node) (*thread)->go_down();
  }
  node.go_down();
  hash = so_far;
  FERMATA_ASSERT(node.is_down());
  FERMATA_ASSERT(node.phase() == NodeState::Phase::Ended);
  node.disk().crash([&](std::uint64_t key, std::uint64_t bound) {
    return drawn_at_crash(node, RandomStream::Disk, key,
                          "what is left of a change when '{}' crashes", bound);
  });
}

std::uint64_t WorldState::drawn_at_crash(const NodeState& node, RandomStream stream,
                                         std::uint64_t part, const char* what,
                                         std::uint64_t bound) {
  const std::uint64_t key = decisions_.named(key_of(key_of(node.key(), "crash"), part), [&] {
    return fmt::format(fmt::runtime(what), node.name());
  });
  return decisions_.draw(stream, key, bound);
}

void WorldState::restart(NodeState& node) {
  outside([&node] {
    if (!node.is_down()) {
      throw UsageError(fmt::format("restart: node '{}' has not crashed", node.name()));
    }
    node.come_up();
  });
}

void WorldState::meet_crash(NodeState& node) {
  FERMATA_ASSERT(!over());
  const std::uint64_t key = decisions_.named(key_of(key_of(node.key(), "crash"), 2), [&] {
    return fmt::format("how long '{}' goes on before it crashes", node.name());
  });
  const std::uint64_t late = decisions_.draw_rarely(RandomStream::Fault, key, kTimes, kDelay);
  FERMATA_ASSERT(late < kTimes);
  const Duration delay = late == 0 ? Duration::zero() : kLeastTime * (1 << late);
  later(delay, [this, &node, life = node.life(), key] {
    const bool overtaken = node.life() != life || node.phase() == NodeState::Phase::Ended;
    if (overtaken || faults_.is_stopped()) return;
    faults_.struck_as_planned(Fault::Crash, key);
    crash_now(node);
    const std::uint64_t down = drawn_at_crash(node, RandomStream::Fault, 1,
                                              "how long '{}' is down after it crashes", kTimes);
    later(kLeastTime * (1 << down), [&node, life] {
      if (node.is_down() && node.life() == life) node.come_up();
    });
  });
}

bool WorldState::may_come_up(const NodeState& node) const noexcept {
  return node.is_down() && action_agenda_.earliest() != Instant::never();
}

}  // namespace fermata::sim::detail
