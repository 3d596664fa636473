// SPDX-License-Identifier: Apache-2.0

// A wait that finds many descriptors ready is told by several turns.

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/poll/reactor.hpp"
#include "fermata/sync/await.hpp"
#include "tests/unit/poll/counting_backend.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kDescriptors = 200;
constexpr std::size_t kPortion = 64;

/// A runtime with many descriptors, for each of which a coroutine waits, and which become ready
/// together.
class Portions : public ::testing::Test {
 protected:
  Portions() {
    for (int& each : descriptors_) each = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  }
  ~Portions() override {
    for (const int each : descriptors_) ::close(each);
  }

  /// Calls `woken(i)` in the coroutine that waits for the i-th one.
  template <class Woken>
  void wait_for_all(Woken woken) {
    for (std::size_t i = 0; i < kDescriptors; ++i) {
      waiters_.push_back(spawn([this, i, woken] {
        Descriptor(descriptors_[i]).wait_readable();
        woken(i);
      }));
    }
    suspend();  // All of them wait.
    for (const int each : descriptors_) ::eventfd_write(each, 1);
  }

  std::vector<int> descriptors_ = std::vector<int>(kDescriptors);
  std::vector<Coroutine<void>> waiters_;
  test::CountingBackend* backend_ = new test::CountingBackend;
  Runtime runtime_{poll::make_reactor(std::unique_ptr<poll::Backend>(backend_))};
};

TEST_F(Portions, LetCoroutinesRunInBetween) {
  std::size_t woken = 0;
  std::size_t most_ready = 0;
  int waits = 0;
  runtime_.run([&] {
    wait_for_all([&](std::size_t) {
      if (woken++ == 0) waits = backend_->waits;
      most_ready = std::max(most_ready, runtime_.scheduler().ready().size() + 1);
      EXPECT_EQ(backend_->waits, waits);
    });
    for (const auto& waiter : waiters_) await(waiter);
    waiters_.clear();
  });
  EXPECT_EQ(woken, kDescriptors);
  EXPECT_LT(most_ready, 2 * kPortion);  // A turn may come before the last of a portion has run.
}

TEST_F(Portions, AreNotToldOfAFileThatIsGone) {
  bool timed_out = false;
  runtime_.run([&] {
    const int last = descriptors_.back();
    wait_for_all([&, last](std::size_t i) {
      if (i != 0) return;
      waiters_.back().cancel();
      const int silent = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
      ::dup2(silent, last);
      ::close(silent);
      try {
        Descriptor(last).wait_readable({.timeout = 5ms});
      } catch (const Timeout&) {
        timed_out = true;
      }
    });
    await(waiters_.front());
    waiters_.clear();
  });
  EXPECT_TRUE(timed_out);
}

}  // namespace
}  // namespace fermata
