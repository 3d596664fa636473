// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/receive_buffers.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::uring::detail {

namespace {

constexpr unsigned kBuffers = 256;
constexpr std::size_t kBufferSize = 8 * 1024;
constexpr std::size_t kEntriesSize = kBuffers * sizeof(io_uring_buf);
constexpr std::size_t kMemorySize = kEntriesSize + kBuffers * kBufferSize;

constexpr unsigned index_of(std::uint32_t flags) { return flags >> IORING_CQE_BUFFER_SHIFT; }

}  // namespace

ReceiveBuffers::ReceiveBuffers()
    : memory_(os::kernel.mmap(nullptr, kMemorySize, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
      entries_(static_cast<io_uring_buf_ring*>(memory_)) {
  if (memory_ == MAP_FAILED) throw InputOutputError("allocate buffers for an io_uring", errno);
}

ReceiveBuffers::~ReceiveBuffers() { os::kernel.munmap(memory_, kMemorySize); }

void ReceiveBuffers::register_with(Ring& ring) {
  io_uring_buf_reg registration = {};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(memory_);
  registration.ring_entries = kBuffers;
  registration.bgid = kGroup;
  if (const int code = io_uring_register_buf_ring(ring.get(), &registration, 0); code != 0) {
    throw InputOutputError("register buffers with an io_uring", -code);
  }
  io_uring_buf_ring_init(entries_);
  for (unsigned i = 0; i < kBuffers; ++i) add(i, static_cast<int>(i));
  io_uring_buf_ring_advance(entries_, kBuffers);
}

std::byte* ReceiveBuffers::buffer(unsigned index) const noexcept {
  FERMATA_ASSERT(index < kBuffers);
  return static_cast<std::byte*>(memory_) + kEntriesSize + index * kBufferSize;
}

void ReceiveBuffers::add(unsigned index, int offset) noexcept {
  io_uring_buf_ring_add(entries_, buffer(index), kBufferSize, static_cast<unsigned short>(index),
                        io_uring_buf_ring_mask(kBuffers), offset);
}

std::span<const std::byte> ReceiveBuffers::bytes(int result, std::uint32_t flags) const noexcept {
  FERMATA_ASSERT((flags & IORING_CQE_F_BUFFER) != 0);
  FERMATA_ASSERT(result >= 0 && static_cast<std::size_t>(result) <= kBufferSize);
  return {buffer(index_of(flags)), static_cast<std::size_t>(result)};
}

void ReceiveBuffers::give_back(std::uint32_t flags) noexcept {
  if ((flags & IORING_CQE_F_BUFFER) == 0) return;
  add(index_of(flags), 0);
  io_uring_buf_ring_advance(entries_, 1);
}

}  // namespace fermata::uring::detail
