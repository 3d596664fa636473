// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace fermata {

/// Which event loop of a program handles a signal: one at a time, as often as it likes. Loops on
/// different threads may ask at once.
class SignalOwners {
 public:
  /// False when another owner has it.
  [[nodiscard]] bool claim(int signum, const void* owner);
  /// REQUIRES: claimed.
  void release(int signum) noexcept;

 private:
  struct Claim {
    const void* owner = nullptr;
    std::size_t count = 0;
  };

  std::mutex mutex_;
  std::map<int, Claim> claims_;
};

}  // namespace fermata
