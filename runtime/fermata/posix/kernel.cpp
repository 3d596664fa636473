// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/kernel.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/posix/heap.hpp"
#include "fermata/posix/lock_watch.hpp"

namespace fermata::posix {

namespace {
constinit std::atomic<bool> linked = false;
}  // namespace

constinit thread_local Kernel* serving = nullptr;
constinit thread_local const void* caller = nullptr;
constinit std::atomic<Disguises*> disguises = nullptr;
constinit thread_local LockWatch* lock_watch = nullptr;

Serving::Serving(Kernel* kernel, Heap* heap) noexcept
    : kernel_before_(std::exchange(serving, kernel)),
      heap_before_(std::exchange(foreign_heap, heap)) {}

Serving::~Serving() {
  serving = kernel_before_;
  foreign_heap = heap_before_;
}

bool is_linked() noexcept { return linked.load(std::memory_order_relaxed); }

void detail::set_linked() noexcept {
  FERMATA_ASSERT(!is_linked());
  linked.store(true, std::memory_order_relaxed);
}

}  // namespace fermata::posix
