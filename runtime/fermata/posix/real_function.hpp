// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "fermata/base/assert.hpp"

namespace fermata::posix {

/// A function of a library that the program has defined anew: what it was before. It is looked for
/// once, also when there is none.
template <class Function>
class RealFunction {
 public:
  explicit constexpr RealFunction(const char* name) noexcept : name_(name) {}

  void find() noexcept {
    if (looked_for_.load(std::memory_order_acquire)) return;
    function_.store(reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_)),
                    std::memory_order_relaxed);
    looked_for_.store(true, std::memory_order_release);
  }

  /// REQUIRES: there is such a function.
  [[nodiscard]] Function* get() noexcept {
    Function* const known = function_.load(std::memory_order_relaxed);
    if (__builtin_expect(known != nullptr, 1)) return known;
    find();
    FERMATA_ASSERT(function_.load(std::memory_order_relaxed) != nullptr);
    return function_.load(std::memory_order_relaxed);
  }

 private:
  const char* name_;
  std::atomic<Function*> function_ = nullptr;
  std::atomic<bool> looked_for_ = false;
};

}  // namespace fermata::posix
