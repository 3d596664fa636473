// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/base/block_pool.hpp"

#include <new>
#include <utility>

namespace fermata::detail {

namespace {
constexpr std::align_val_t kAlignment{64};
}

void BlockPool::ChunkDelete::operator()(std::byte* chunk) const noexcept {
  FERMATA_UNPOISON(chunk, kChunkBytes);
  ::operator delete(chunk, kAlignment);
}

BlockPool::~BlockPool() = default;

void* BlockPool::allocate_large(std::size_t bytes) {
  try {
    return ::operator new(bytes, kAlignment);
  } catch (...) {
    --in_use_;
    throw;
  }
}

void BlockPool::release_large(void* block) noexcept { ::operator delete(block, kAlignment); }

void* BlockPool::carve(std::size_t size_class) {
  const std::size_t bytes = (size_class + 1) * kUnit;
  if (static_cast<std::size_t>(fresh_end_ - fresh_) < bytes) {
    chunks_.reserve(chunks_.size() + 1);
    fresh_ = static_cast<std::byte*>(::operator new(kChunkBytes, kAlignment));
    fresh_end_ = fresh_ + kChunkBytes;
    chunks_.emplace_back(fresh_);
  }
  return std::exchange(fresh_, fresh_ + bytes);
}

}  // namespace fermata::detail
