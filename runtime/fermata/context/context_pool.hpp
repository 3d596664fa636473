// SPDX-License-Identifier: Apache-2.0
#pragma once

// Contexts with stacks, made once and used again.
//
// Memory        Slabs of many stacks, one mapping each. Below a stack lies its guard; its top is
//               moved down by up to 2 KiB, one cache line a neighbour, so that the hot lines of
//               many stacks do not share a cache set. The StackContext lies at that top: a
//               coroutine idle near its entry holds one page.
// Reuse         Last in, first out. Neither acquire nor release of a stack used before makes a
//               system call; `trim` alone gives memory back.
// Thread        One thread at a time.

#include <cstddef>
#include <cstdint>

#include "fermata/context/context.hpp"
#include "fermata/context/slab.hpp"

namespace fermata::detail {

class ContextPool final {
 public:
  /// Throws UsageError when the stack size is absurd. Maps nothing yet.
  explicit ContextPool(StackOptions options);

  /// Frees every stack, also of contexts not released: nothing on them is unwound.
  ~ContextPool();

  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;

  /// A context ready to be switched to, where it calls `entry`, which must never return, or where
  /// `entry` goes on after a rest. Throws StackExhausted when the system gives no stack; the pool
  /// stays usable.
  [[nodiscard]] StackContext& acquire(void (*entry)(StackContext&) noexcept);

  /// Takes the context back. It may be running: then leave_context() must be all that follows.
  void release(StackContext& context) noexcept;

  /// Takes back a context that runs, and whose entry function has nothing on its stack that must
  /// be destroyed: it switches away next, and may be switched to again, or not.
  void rest(StackContext& context) noexcept {
    context.resting = true;
    release(context);
  }

  /// To be called whenever the scheduler is idle; cheap unless there is something to give back.
  /// Stacks beyond the demand of late lose their memory, kStripsPerTrim a call at most, and slabs
  /// without any memory their mapping. Demand is the most contexts live at once in a period of
  /// kTrimsPerPeriod calls; it rises at once and falls by a quarter of the difference each period,
  /// so a load that comes in bursts keeps its stacks from burst to burst.
  void trim() noexcept;

  static constexpr unsigned kTrimsPerPeriod = 32;
  static constexpr unsigned kStripsPerTrim = 128;

  struct Stats {
    std::size_t live = 0;           ///< Acquired and not released.
    std::size_t idle = 0;           ///< Released and still holding memory.
    std::size_t peak = 0;           ///< Most live at once.
    std::size_t created_total = 0;  ///< Stacks given memory, again after a trim included.
    std::size_t slabs = 0;
    std::size_t mapped_bytes = 0;
    std::uint64_t mmap_calls = 0;
    std::uint64_t guard_calls = 0;
    std::uint64_t discard_calls = 0;  ///< Stacks that trim took the memory from.
  };
  [[nodiscard]] Stats stats() const noexcept;

  /// Deepest use of the stack since it was given memory, in whole pages; 0 when unknown. Earlier
  /// users of the same stack count.
  [[nodiscard]] std::size_t high_water_bytes(const StackContext& context) const noexcept;

 private:
  StackContext& furnish_bare_slot();
  Slab& map_slab();
  void install_guard(std::byte* bottom);
  void end_period() noexcept;
  void strip(StackContext& context) noexcept;
  void unmap(Slab& slab) noexcept;
  [[nodiscard]] std::size_t slot_bytes() const noexcept {
    return guard_bytes_ + options_.stack_bytes;
  }
  [[nodiscard]] StackContext& context_at(const Slab& slab, unsigned slot) const noexcept;
  [[noreturn]] void fail(const char* operation, int error_number, bool at_cap) const;

  StackContext* free_ = nullptr;
  std::size_t free_count_ = 0;
  std::size_t live_ = 0;
  std::size_t period_peak_ = 0;
  std::size_t demand_ = 0;
  unsigned trims_in_period_ = 0;
  StackContext* surplus_ = nullptr;  ///< Free, still with memory, which trim takes bit by bit.
  std::size_t surplus_count_ = 0;
  StackOptions options_;  ///< Automatic guards become Mprotect when the kernel refuses.
  std::size_t guard_bytes_;
  SlabList slabs_;
  Stats totals_;  ///< What is not counted above.
};

}  // namespace fermata::detail
