// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/pos.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/highest.hpp"

namespace fermata::sim {

void PosStrategy::begin() {
  salt_ = schedule().next();
  pending_.clear();
  users_.clear();
}

std::uint64_t PosStrategy::priority(std::uint64_t path) {
  const Pending* pending = pending_.look_up(path);
  const std::uint64_t draws = pending != nullptr ? pending->draws : 0;
  return key_of(key_of(salt_, path), draws);
}

std::size_t PosStrategy::choose(const Candidates& candidates, std::uint64_t /*picked*/) {
  return highest(candidates, [this](std::uint64_t path) { return priority(path); });
}

void PosStrategy::end_step(std::uint64_t path, const Footprint& footprint) {
  Pending& mine = pending_[path];
  ++mine.draws;
  const std::uint64_t step = ++mine.step;
  for (const std::uint64_t use : footprint.uses) {
    const bool writes = (use & Footprint::kWrote) != 0;
    Users& users = users_[use & ~Footprint::kFlags];
    redraw(users, writes, path);
    users.all.push_back(User{path, step, writes});
  }
}

// Forgets, at the same time, who has gone on since.
void PosStrategy::redraw(Users& users, bool written, std::uint64_t except) {
  std::erase_if(users.all, [&](const User& user) {
    Pending* pending = pending_.look_up(user.path);
    if (user.path == except || pending == nullptr) return true;
    FERMATA_ASSERT(user.step <= pending->step);
    if (pending->step != user.step) return true;
    if (written || user.writes) ++pending->draws;
    return false;
  });
}

}  // namespace fermata::sim
