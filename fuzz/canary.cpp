// SPDX-License-Identifier: Apache-2.0

// The canary of the fuzzer: a bug that must be found, or the fuzzer is blind. A lock opens when its
// first six digits are right, and three coroutines press one digit each as often as they get to
// run. A random order is right once in 729 runs; who keeps each input that gets one digit further
// has six choices to make, one after the other.

#include <array>
#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

namespace {

constexpr std::array<int, 6> kCode = {1, 2, 2, 0, 1, 0};
constexpr int kDigits = 3;

class Lock {
 public:
  void press(int digit) {
    if (jammed_) return;
    jammed_ = kCode[right_] != digit;
    if (!jammed_) ++right_;
    jammed_ = jammed_ || right_ == kCode.size();
  }
  /// How many of the digits were right before the first wrong one.
  [[nodiscard]] std::size_t right() const noexcept { return right_; }

 private:
  std::size_t right_ = 0;
  bool jammed_ = false;
};

SIM_TEST(Canary, TheLockStaysShut) {
  Lock lock;
  std::array<fermata::Coroutine<>, kDigits> hands;
  for (int digit = 0; digit < kDigits; ++digit) {
    hands[static_cast<std::size_t>(digit)] = fermata::spawn("hand", [&lock, digit] {
      for (std::size_t i = 0; i < kCode.size(); ++i) {
        lock.press(digit);
        fermata::suspend();
      }
    });
  }
  for (const auto& hand : hands) fermata::await(hand);
  FERMATA_SOMETIMES_GE(lock.right(), kCode.size(), "the lock opens");
  EXPECT_LT(lock.right(), kCode.size());
}

}  // namespace
