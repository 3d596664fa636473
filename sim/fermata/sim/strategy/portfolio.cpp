// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/strategy/portfolio.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/sim/strategy/delay.hpp"
#include "fermata/sim/strategy/fifo.hpp"
#include "fermata/sim/strategy/pct.hpp"
#include "fermata/sim/strategy/pos.hpp"
#include "fermata/sim/strategy/random.hpp"
#include "fermata/sim/strategy/urw.hpp"

namespace fermata::sim {
namespace {

constexpr std::int64_t kRunsRemembered = 32;  // Then half of them are forgotten.
constexpr std::int64_t kLeastWeight = 2;
constexpr std::int64_t kWeightOfNews = 16;

}  // namespace

PortfolioStrategy::PortfolioStrategy()
    : random_(std::make_unique<RandomStrategy>()), turn_(random_.get()) {
  specialists_[0].strategy = std::make_unique<UrwStrategy>(UrwStrategy::Weights{});
  specialists_[1].strategy = std::make_unique<PosStrategy>(0);
  specialists_[2].strategy = std::make_unique<PctStrategy>(3, 0);
  specialists_[3].strategy = std::make_unique<DelayStrategy>(2, 0);
  specialists_[4].strategy = std::make_unique<FifoStrategy>();
  shares_.push_back({.name = random_->name()});
  for (const Specialist& each : specialists_) shares_.push_back({.name = each.strategy->name()});
  FERMATA_ASSERT(shares_.size() == specialists_.size() + 1);
}

std::string PortfolioStrategy::name() const { return began_ ? turn_->name() : "portfolio"; }

void PortfolioStrategy::begin_run(std::uint64_t seed) {
  began_ = true;
  turn_->begin_run(seed);
}

void PortfolioStrategy::end_run(const RunSummary& run) {
  FERMATA_ASSERT(began_);
  turn_->end_run(run);
  const auto turn =
      last_ == nullptr ? 0 : static_cast<std::size_t>(last_ - specialists_.data()) + 1;
  FERMATA_ASSERT(turn < shares_.size());
  ++shares_[turn].runs;
  shares_[turn].new_runs += run.is_new;
  shares_[turn].failures += run.failed;
  if (last_ != nullptr) {
    ++last_->runs;
    last_->new_runs += run.is_new;
    if (last_->runs == kRunsRemembered) {
      last_->runs /= 2;
      last_->new_runs /= 2;
    }
    last_ = nullptr;
    turn_ = random_.get();
  } else {
    deal();
  }
}

std::int64_t PortfolioStrategy::Specialist::weight() const noexcept {
  FERMATA_ASSERT(new_runs <= runs);
  return kLeastWeight + kWeightOfNews * (new_runs + 1) / (runs + 1);
}

// By turns, each as often as its weight says, evenly spread.
void PortfolioStrategy::deal() {
  std::int64_t sum = 0;
  last_ = &specialists_.front();
  for (Specialist& each : specialists_) {
    const std::int64_t weight = each.weight();
    each.credit += weight;
    sum += weight;
    if (each.credit > last_->credit) last_ = &each;
  }
  FERMATA_ASSERT(last_->credit > 0);
  last_->credit -= sum;
  turn_ = last_->strategy.get();
}

}  // namespace fermata::sim
