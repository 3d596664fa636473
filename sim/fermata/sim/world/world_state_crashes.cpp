// SPDX-License-Identifier: Apache-2.0

// Machines that go down and come up again.

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/amount.hpp"
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
  const auto tell_silent = [&](const Decision&) {
    return fmt::format("nobody is told when '{}' crashes: its connections stay silent",
                       node.name());
  };
  const bool silent =
      decisions_.draw(backend::RandomStream::Network, crash_key(node, 0), 2, tell_silent) != 0;
  node.record_incident("crash", silent ? "crashes, silently" : "crashes");
  network_.crash(node, silent);
  node.record_files();
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
  FERMATA_ASSERT(node.is_down());
  crash_disk(node.disk(), key_of(node.key(), "crash"), node.name(), node.place());
  node.record_files(true);
}

void WorldState::crash_disk(Disk& disk, std::uint64_t key, const std::string& owner,
                            const std::string& place) {
  class Listener final : public CrashListener {
   public:
    Listener(Decisions& decisions, const std::string& place)
        : decisions_(decisions), place_(place) {}
    [[nodiscard]] std::uint64_t last_told() const override { return decisions_.last_told(); }
    void tell(std::uint64_t told, std::string sentence) override {
      decisions_.tell_later(told, [&] { return std::move(sentence); });
    }
    [[nodiscard]] std::string place() const override { return place_; }

   private:
    Decisions& decisions_;
    const std::string& place_;
  };
  const auto tell = [&](const Decision&) {
    return fmt::format("what '{}' had not synced when it crashed is lost in part", owner);
  };
  const auto draw = [&](std::uint64_t part, std::uint64_t bound) {
    return decisions_.draw(backend::RandomStream::Disk, key_of(key, part), bound, tell);
  };
  FERMATA_ASSERT(!owner.empty());
  Listener listener(decisions_, place);
  disk.crash(draw, decisions_.names().wanted() ? &listener : nullptr);
}

void WorldState::crash_folder(std::string_view path) {
  SharedDisk& shared = shared_disks_.known(path);
  const std::uint64_t life = shared.disk.life();
  crash_disk(shared.disk, key_of(key_of("shared folder"), path), shared.path,
             fmt::format(" on '{}'", shared.path));
  FERMATA_ASSERT(shared.disk.life() != life);
}

std::uint64_t WorldState::crash_key(const NodeState& node, std::uint64_t part) noexcept {
  return key_of(key_of(node.key(), "crash"), part);
}

std::string WorldState::crash_text(const NodeState& node) const {
  return fmt::format("'{}' crashes at {}", node.name(), moment(now_));
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
  const auto tell_late = [&](const Decision& decision) {
    return fmt::format("the crash of '{}' comes {} after its wait begins", node.name(),
                       amount(kLeastTime * (1 << decision.value)));
  };
  const std::uint64_t late = decisions_.draw_rarely(backend::RandomStream::Fault,
                                                    crash_key(node, 2), kTimes, kDelay, tell_late);
  FERMATA_ASSERT(late < kTimes);
  const Duration delay = late == 0 ? Duration::zero() : kLeastTime * (1 << late);
  later(delay, [this, &node, life = node.life()] {
    const bool overtaken = node.life() != life || node.phase() == NodeState::Phase::Ended;
    if (overtaken || faults_.is_stopped()) return;
    faults_.struck_as_planned(Fault::Crash);
    decisions_.tell_later(node.crash_told(), [&] {
      const std::string when = node.disk().crash_point_text();
      return crash_text(node) + (when.empty() ? "" : ", ") + when;
    });
    crash_now(node);
    const auto tell_down = [&](const Decision& decision) {
      return fmt::format("'{}' comes up again {} after its crash", node.name(),
                         amount(kLeastTime * (1 << decision.value)));
    };
    const std::uint64_t down =
        decisions_.draw(backend::RandomStream::Fault, crash_key(node, 1), kTimes, tell_down);
    later(kLeastTime * (1 << down), [&node, life] {
      if (node.is_down() && node.life() == life) node.come_up();
    });
  });
}

bool WorldState::may_come_up(const NodeState& node) const noexcept {
  return node.is_down() && action_agenda_.earliest() != Instant::never();
}

}  // namespace fermata::sim::detail
