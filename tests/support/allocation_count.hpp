// SPDX-License-Identifier: Apache-2.0
#pragma once

// How often operator new is called. This replaces it: only one source of a program includes this.

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace fermata::test {

/// While it lives, counts the calls of its thread; those inside the life of another one there
/// count for that one only.
class AllocationCount {
 public:
  AllocationCount() noexcept : outer_(std::exchange(counting_, this)) {}
  AllocationCount(const AllocationCount&) = delete;
  AllocationCount& operator=(const AllocationCount&) = delete;
  ~AllocationCount() { counting_ = outer_; }

  [[nodiscard]] std::size_t value() const noexcept { return value_; }

  /// From operator new.
  static void allocated() noexcept {
    if (counting_ != nullptr) ++counting_->value_;
  }

 private:
  static inline thread_local AllocationCount* counting_ = nullptr;

  AllocationCount* const outer_;
  std::size_t value_ = 0;
};

}  // namespace fermata::test

[[gnu::noinline]] void* operator new(std::size_t size) {
  fermata::test::AllocationCount::allocated();
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  fermata::test::AllocationCount::allocated();
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept { std::free(block); }
