// SPDX-License-Identifier: Apache-2.0

// A limiter measures by the wall clock how much time has passed. When that is set back the time is
// negative, and everything is refused until it has caught up.

#include "properties/zoo/applications/application.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

/// Permits, of which one comes back each millisecond.
class Limiter {
 public:
  explicit Limiter(Variant variant) : variant_(variant) {}

  bool take() {
    const std::int64_t time = clock();
    permits_ += (time - last_) / 1'000'000;
    last_ = time;
    if (permits_ < 1) return false;
    --permits_;
    return true;
  }

 private:
  [[nodiscard]] std::int64_t clock() const {
    return variant_ == Variant::Buggy ? wall_clock().nanoseconds : now().nanoseconds;
  }

  Variant variant_;
  std::int64_t permits_ = 1;
  std::int64_t last_ = clock();
};

}  // namespace

FERMATA_APPLICATION(WallClock) {
  Limiter limiter(variant);
  int granted = 0;
  const auto user = spawn("user", [&] {
    for (int i = 0; i < 3; ++i) {
      if (limiter.take()) ++granted;
      delay(10ms);
    }
  });
  const auto ntp = spawn("ntp", [&] {
    delay(15ms);
    if (FERMATA_FAULT("clock set back")) world.node("main").step_wall_clock(-1h);
  });
  spawn_bystanders(3);
  await(user);
  await(ntp);
  EXPECT_EQ(granted, 3);
}

}  // namespace fermata::properties::zoo
