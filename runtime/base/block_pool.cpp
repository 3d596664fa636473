// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/base/block_pool.hpp"

#include <new>

#include "fermata/runtime/base/sanitizer.hpp"

namespace fermata::detail {

namespace {
constexpr std::align_val_t kAlignment{64};
}

void BlockPool::ChunkDelete::operator()(std::byte* chunk) const noexcept {
  FERMATA_UNPOISON(chunk, kChunkBytes);
  ::operator delete(chunk, kAlignment);
}

BlockPool::~BlockPool() = default;

void* BlockPool::allocate(std::size_t bytes) {
  const std::size_t size_class = (bytes - 1) / kUnit;
  ++in_use_;
  if (size_class >= kClasses) return ::operator new(bytes, kAlignment);
  if (free_[size_class] == nullptr) refill(size_class);
  Free* block = free_[size_class];
  FERMATA_UNPOISON(block, (size_class + 1) * kUnit);
  free_[size_class] = block->next;
  return block;
}

void BlockPool::release(void* block, std::size_t bytes) noexcept {
  const std::size_t size_class = (bytes - 1) / kUnit;
  --in_use_;
  if (size_class >= kClasses) return ::operator delete(block, kAlignment);
  auto* free = static_cast<Free*>(block);
  free->next = free_[size_class];
  free_[size_class] = free;
  FERMATA_POISON(block, (size_class + 1) * kUnit);
}

void BlockPool::refill(std::size_t size_class) {
  const std::size_t bytes = (size_class + 1) * kUnit;
  if (static_cast<std::size_t>(fresh_end_ - fresh_) < bytes) {
    chunks_.reserve(chunks_.size() + 1);
    fresh_ = static_cast<std::byte*>(::operator new(kChunkBytes, kAlignment));
    fresh_end_ = fresh_ + kChunkBytes;
    chunks_.emplace_back(fresh_);
  }
  auto* block = reinterpret_cast<Free*>(fresh_);
  fresh_ += bytes;
  block->next = nullptr;
  free_[size_class] = block;
}

}  // namespace fermata::detail
