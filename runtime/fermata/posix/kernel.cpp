// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/kernel.hpp"

#include <atomic>
#include <utility>

namespace fermata::posix {

namespace {
constinit std::atomic<bool> linked = false;
}  // namespace

constinit thread_local Kernel* serving = nullptr;

Unserved::Unserved() noexcept : before_(std::exchange(serving, nullptr)) {}

bool is_linked() noexcept { return linked.load(std::memory_order_relaxed); }

void detail::set_linked() noexcept { linked.store(true, std::memory_order_relaxed); }

}  // namespace fermata::posix
