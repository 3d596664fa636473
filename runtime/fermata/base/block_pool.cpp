// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/block_pool.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "fermata/base/freed_memory.hpp"

namespace fermata::detail {

namespace {
constexpr std::align_val_t kAlignment{64};

/// The words of a freed block behind its link to the next one.
template <class Block>
std::span<const std::uint64_t> rest_of(const Block& block, std::size_t bytes) noexcept {
  return {reinterpret_cast<const std::uint64_t*>(&block + 1),
          (bytes - sizeof block) / sizeof(std::uint64_t)};
}
}  // namespace

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

// Copied, not assigned as words: the link is a pointer, which words may not alias.
void BlockPool::fill(Free& block, std::size_t bytes) noexcept {
  static constexpr auto kLine = [] {
    std::array<std::uint64_t, kUnit / sizeof(std::uint64_t)> line{};
    line.fill(kFreedPattern);
    return line;
  }();
  Free* const next = block.next;
  auto* const place = reinterpret_cast<std::byte*>(&block);
  for (std::size_t at = 0; at < bytes; at += kUnit) std::memcpy(place + at, kLine.data(), kUnit);
  block.next = next;
}

void BlockPool::check(const Free& block, std::size_t bytes) noexcept {
  const auto rest = rest_of(block, bytes);
  const auto repeated = rest.subspan(1);  // Equal to all but the last: each word is the first one.
  if (std::memcmp(&block.filled, &kFreedPattern, sizeof block.filled) == 0 &&
      rest.front() == kFreedPattern &&
      std::memcmp(rest.data(), repeated.data(), repeated.size_bytes()) == 0) {
    return;
  }
  std::fprintf(stderr,
               "fermata: a block of %zu bytes, such as that of a coroutine or a future, was "
               "written to after it was freed\n",
               bytes);
  std::abort();
}

void* BlockPool::carve(std::size_t size_class) {
  FERMATA_ASSERT(size_class < kClasses);
  const std::size_t bytes = (size_class + 1) * kUnit;
  if (static_cast<std::size_t>(fresh_end_ - fresh_) < bytes) {
    chunks_.reserve(chunks_.size() + 1);
    fresh_ = static_cast<std::byte*>(::operator new(kChunkBytes, kAlignment));
    fresh_end_ = fresh_ + kChunkBytes;
    chunks_.emplace_back(fresh_);
  }
  FERMATA_ASSERT(static_cast<std::size_t>(fresh_end_ - fresh_) >= bytes);
  return std::exchange(fresh_, fresh_ + bytes);
}

}  // namespace fermata::detail
