// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fermata/sim.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "tests/support/checks.hpp"

namespace fermata::properties {
namespace {

/// Three users share a pool in which everything suspends; resources are counted.
class PoolLedger {
 public:
  void run() {
    made_ = ended_ = 0;
    PoolOptions<int> options;
    options.factory = [this] {
      suspend();
      most_alive_ = std::max(most_alive_, ++made_ - ended_);
      return made_;
    };
    options.destructor = [this](int&) {
      const struct Ended {
        int& counter;
        ~Ended() { ++counter; }
      } ended{ended_};
      suspend();
    };
    options.before_acquire = [](int& resource) {
      suspend();
      return resource != 1;  // The first one does not last.
    };
    options.before_release = [](int&) {
      suspend();
      return true;
    };
    options.max = 1;
    pool_ = std::make_shared<Pool<int>>(Name("swept"), std::move(options));
    std::vector<Coroutine<>> users;
    for (const char* name : {"first", "second", "third"}) {
      users.push_back(spawn(std::string(name), [pool = pool_] {
        auto lease = pool->acquire({.timeout = std::chrono::seconds(1)});
        suspend();
        lease.release();
        lease = pool->acquire({.timeout = std::chrono::seconds(1)});
      }));
    }
    when_all_settled(users);
    pool_->close();
  }

  /// By somebody else, unless it is closed already.
  void lend_again() {
    if (!pool_->is_closed()) pool_->acquire({.timeout = std::chrono::seconds(1)}).release();
    pool_->close();
  }

  void check() const {
    EXPECT_EQ(made_, ended_);
    EXPECT_LE(most_alive_, 1);
  }

 private:
  std::shared_ptr<Pool<int>> pool_;
  int made_ = 0;
  int ended_ = 0;
  int most_alive_ = 0;
};

SIM_TEST(Pools, LoseNothingWhereverTheyAreInterrupted) {
  FERMATA_CHECKS("POOL-04", "POOL-18", "POOL-19", "POOL-20");
  PoolLedger ledger;
  world.sweep_cancellation([&] { ledger.run(); }, {.then = [&] { ledger.lend_again(); },
                                                   .check = [&] { ledger.check(); }});
}

}  // namespace
}  // namespace fermata::properties
