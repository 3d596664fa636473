// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/context_pool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/base/text_of.hpp"
#include "fermata/context/switch.hpp"
#include "fermata/system/system_calls.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(low, high) 0U
#define VALGRIND_STACK_DEREGISTER(id) static_cast<void>(id)
#endif

namespace fermata::detail {

namespace {

constexpr std::size_t kStackBytesMin = 16 * 1024;
constexpr std::size_t kStackBytesMax = std::size_t{1} << 30;

/// Programs with a few coroutines map little.
constexpr unsigned kSlotsOfFirstSlab = 16;

/// One cache line apart over 2 KiB: with the StackContext and a kilobyte of frames within one page.
constexpr unsigned kColours = 32;
constexpr unsigned kColourBytes = 64;
static_assert(kColours * kColourBytes + sizeof(StackContext) + 1024 <= 4096);

constexpr int kMadviseGuardInstall = 102;

std::size_t page_bytes() noexcept {
  static const std::size_t bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

StackOptions checked(StackOptions options) {
  if (options.stack_bytes < kStackBytesMin || options.stack_bytes > kStackBytesMax) {
    throw UsageError(fmt::format("StackOptions::stack_bytes is {}, expected {} to {}",
                                 options.stack_bytes, kStackBytesMin, kStackBytesMax));
  }
  options.stack_bytes = whole_pages(options.stack_bytes);
  return options;
}

std::string mapping_cap() {
  std::array<char, 32> text = {};
  const int file = os::kernel.open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
  const ssize_t size = os::kernel.read(file, text.data(), text.size());
  os::kernel.close(file);
  if (size <= 0) return "unknown";
  const std::string_view read(text.data(), static_cast<std::size_t>(size));
  return std::string(read.substr(0, read.find('\n')));
}

/// At the cap a mapping is refused whatever its size; elsewhere a page is nearly always to be had.
bool page_is_refused() noexcept {
  void* probe = ::mmap(nullptr, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return true;
  ::munmap(probe, page_bytes());
  return false;
}

/// Ends a context whose memory is about to go.
void bury(StackContext& context) noexcept {
  note_death(context);
  VALGRIND_STACK_DEREGISTER(context.valgrind_id);
}

void enter(boost::context::detail::transfer_t transfer) noexcept {
  StackContext& self = *static_cast<StackContext*>(transfer.data);
  self.thread = self.resumer->thread;
  set_float_state(self.thread.float_state);
  arrive(self, transfer.fctx);
  self.entry(self);
  std::terminate();
}

}  // namespace

ContextPool::ContextPool(StackOptions options)
    : options_(checked(options)),
      guard_bytes_(options.guards == Guards::Off ? 0 : whole_pages(kGuardBytes)) {}

ContextPool::~ContextPool() {
  while (Slab* slab = slabs_.front()) {
    for (unsigned slot = 0; slot < slab->slots; ++slot) {
      if (!slab->is_bare(slot)) bury(context_at(*slab, slot));
    }
    ::munmap(slab->base, slab->bytes);
    slabs_.remove(*slab);
    delete slab;
  }
}

StackContext& ContextPool::acquire(void (*entry)(StackContext&) noexcept) {
  StackContext* context = free_;
  if (context != nullptr) [[likely]] {
    free_ = context->next;
    --free_count_;
  } else if (surplus_ != nullptr) {
    context = surplus_;
    surplus_ = context->next;
    --surplus_count_;
  } else {
    context = &furnish_bare_slot();
  }
  ++live_;
  period_peak_ = std::max(period_peak_, live_);

  context->ambient = {};
  context->owner = nullptr;
  if (std::exchange(context->resting, false) && context->entry == entry) return *context;
  context->entry = entry;
  note_rebirth(*context);
  context->registers = boost::context::detail::make_fcontext(
      context->stack_high, static_cast<std::size_t>(context->stack_high - context->stack_low),
      &enter);
  return *context;
}

void ContextPool::release(StackContext& context) noexcept {
  context.next = free_;
  free_ = &context;
  ++free_count_;
  --live_;
}

void ContextPool::trim() noexcept {
  for (unsigned strips = 0; surplus_ != nullptr && strips < kStripsPerTrim; ++strips) {
    StackContext& context = *surplus_;
    surplus_ = context.next;
    --surplus_count_;
    strip(context);
  }
  if (++trims_in_period_ == kTrimsPerPeriod) end_period();
}

void ContextPool::end_period() noexcept {
  trims_in_period_ = 0;
  demand_ = period_peak_ >= demand_ ? period_peak_ : demand_ - (demand_ - period_peak_ + 3) / 4;
  totals_.peak = std::max(totals_.peak, period_peak_);
  period_peak_ = live_;

  const std::size_t wanted = std::max<std::size_t>(demand_, kSlotsOfFirstSlab);
  const std::size_t kept = wanted > live_ ? wanted - live_ : 0;
  if (surplus_ != nullptr || free_count_ <= kept) return;

  // The far end of the list is the coldest.
  StackContext** cut = &free_;
  for (std::size_t passed = 0; passed < kept; ++passed) cut = &(*cut)->next;
  surplus_ = std::exchange(*cut, nullptr);
  surplus_count_ = free_count_ - kept;
  free_count_ = kept;
}

void ContextPool::strip(StackContext& context) noexcept {
  Slab& slab = *context.slab;
  std::byte* const low = context.stack_low;
  bury(context);
  ::madvise(low, options_.stack_bytes, MADV_DONTNEED);
  ++totals_.discard_calls;

  if (slab.bare == 0) {
    slabs_.remove(slab);
    slabs_.push_front(slab);
  }
  const auto offset = static_cast<std::size_t>(low - slab.base);
  slab.bare |= Slab::bit(static_cast<unsigned>(offset / slot_bytes()));
  if (slab.bare == slab.all_slots()) unmap(slab);
}

void ContextPool::unmap(Slab& slab) noexcept {
  // At the mapping cap it may be refused, when it would split a larger mapping.
  if (::munmap(slab.base, slab.bytes) != 0) return;
  --totals_.slabs;
  totals_.mapped_bytes -= slab.bytes;
  slabs_.remove(slab);
  delete &slab;
}

StackContext& ContextPool::furnish_bare_slot() {
  Slab* slab = slabs_.front();
  if (slab == nullptr || slab->bare == 0) slab = &map_slab();
  const auto slot = static_cast<unsigned>(std::countr_zero(slab->bare));
  std::byte* const bottom = slab->base + slot * slot_bytes();
  if ((slab->guarded & Slab::bit(slot)) == 0) {
    install_guard(bottom);
    slab->guarded |= Slab::bit(slot);
  }

  StackContext* const context = ::new (&context_at(*slab, slot)) StackContext;
  context->slab = slab;
  context->stack_low = bottom + guard_bytes_;
  context->stack_high = reinterpret_cast<std::byte*>(context);
  context->valgrind_id = VALGRIND_STACK_REGISTER(context->stack_low, context->stack_high);
  ++totals_.created_total;

  slab->bare &= ~Slab::bit(slot);
  if (slab->bare == 0) {
    slabs_.remove(*slab);
    slabs_.push_back(*slab);
  }
  return *context;
}

Slab& ContextPool::map_slab() {
  auto slab = std::make_unique<Slab>();
  slab->slots = totals_.slabs == 0 ? kSlotsOfFirstSlab : Slab::kSlotsMax;
  void* base = MAP_FAILED;
  for (;; slab->slots /= 2) {
    slab->bytes = slab->slots * slot_bytes();
    base = ::mmap(nullptr, slab->bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base != MAP_FAILED) break;
    const int error_number = errno;
    if (slab->slots == 1) fail("mmap", error_number, page_is_refused());
  }
  // Where huge pages are the default, the first touch of a stack would take two megabytes.
  ::madvise(base, slab->bytes, MADV_NOHUGEPAGE);
  slab->base = static_cast<std::byte*>(base);
  slab->bare = slab->all_slots();
  ++totals_.mmap_calls;
  ++totals_.slabs;
  totals_.mapped_bytes += slab->bytes;
  slabs_.push_front(*slab);
  return *slab.release();
}

void ContextPool::install_guard(std::byte* bottom) {
  if (options_.guards == Guards::Off) return;
  ++totals_.guard_calls;
  if (options_.guards != Guards::Mprotect) {
    if (::madvise(bottom, guard_bytes_, kMadviseGuardInstall) == 0) return;
    if (errno != EINVAL) fail("madvise(MADV_GUARD_INSTALL)", errno, false);
    if (options_.guards == Guards::Madvise) {
      throw Unsupported("Guards::Madvise (Linux 6.13)", "this kernel");
    }
    options_.guards = Guards::Mprotect;
  }
  if (::mprotect(bottom, guard_bytes_, PROT_NONE) != 0) fail("mprotect", errno, errno == ENOMEM);
}

StackContext& ContextPool::context_at(const Slab& slab, unsigned slot) const noexcept {
  std::byte* const top = slab.base + (slot + 1) * slot_bytes() - slot % kColours * kColourBytes;
  return *reinterpret_cast<StackContext*>(top - sizeof(StackContext));
}

void ContextPool::fail(const char* operation, int error_number, bool at_cap) const {
  std::string why =
      fmt::format("no stack of {} KiB for a coroutine, {} stacks live: {} failed: {}",
                  options_.stack_bytes / 1024, live_, operation, errno_text(error_number));
  if (at_cap) {
    why += fmt::format(
        "; the process has as many mappings as vm.max_map_count ({}) allows: raise it, or set "
        "StackOptions::guards to Guards::Off, which halves the mappings",
        mapping_cap());
  }
  throw StackExhausted(why);
}

ContextPool::Stats ContextPool::stats() const noexcept {
  Stats stats = totals_;
  stats.live = live_;
  stats.idle = free_count_ + surplus_count_;
  stats.peak = std::max(totals_.peak, period_peak_);
  return stats;
}

std::size_t ContextPool::high_water_bytes(const StackContext& context) const noexcept {
  if (context.slab == nullptr) return 0;
  const std::size_t page = page_bytes();
  std::array<unsigned char, 64> resident;
  std::byte* const top = context.stack_low + options_.stack_bytes;
  for (std::byte* low = context.stack_low; low < top; low += resident.size() * page) {
    const std::size_t pages = std::min(resident.size(), static_cast<std::size_t>(top - low) / page);
    if (::mincore(low, pages * page, resident.data()) != 0) return 0;
    const auto end = resident.begin() + static_cast<std::ptrdiff_t>(pages);
    const auto deepest = std::find_if(resident.begin(), end, [](auto bits) { return bits & 1; });
    if (deepest == end) continue;
    const auto skipped = static_cast<std::size_t>(deepest - resident.begin());
    return static_cast<std::size_t>(top - low) - skipped * page;
  }
  return 0;
}

}  // namespace fermata::detail
