// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/peek.hpp"

#include <algorithm>
#include <cstddef>

#include "fermata/base/assert.hpp"
#include "fermata/context/switch.hpp"

namespace fermata::detail {

namespace {

using boost::context::detail::transfer_t;

struct Visit {
  StackContext& other;
  StackContext& visitor;
  void (*function)(void*) noexcept;
  void* argument;
};

// Runs where `other` would have gone on, and never gets beyond its jump.
[[gnu::no_sanitize_address]] transfer_t visit_other(transfer_t from) noexcept {
  const Visit& visit = *static_cast<Visit*>(from.data);
  visit.visitor.registers = from.fctx;
  visit.other.resumer = &visit.visitor;
  note_arrival(visit.other);
  visit.function(visit.argument);
  note_departure(visit.other, visit.visitor);
  return boost::context::detail::jump_fcontext(visit.visitor.registers, &visit.visitor);
}

/// What a suspended context keeps at its stack pointer, where a visit's frames come to lie: as much
/// as on any processor. More than that is copied too, and left as it is by a visit.
class KeptRegisters {
 public:
  [[gnu::no_sanitize_address]] explicit KeptRegisters(StackContext& context) noexcept
      : at_(static_cast<std::byte*>(context.registers)),
        size_(context.stack_high == nullptr
                  ? kMost
                  : std::min(kMost, static_cast<std::size_t>(context.stack_high - at_))) {
    for (std::size_t i = 0; i < size_; ++i) bytes_[i] = at_[i];
  }
  KeptRegisters(const KeptRegisters&) = delete;
  KeptRegisters& operator=(const KeptRegisters&) = delete;
  ~KeptRegisters() = default;
  [[gnu::no_sanitize_address]] void* restore() const noexcept {
    for (std::size_t i = 0; i < size_; ++i) at_[i] = bytes_[i];
    return at_;
  }

 private:
  static constexpr std::size_t kMost = 256;
  std::byte* at_;
  std::size_t size_;
  std::byte bytes_[kMost];
};

}  // namespace

void run_on_top_of(StackContext& other, StackContext& running, void (*visit)(void*) noexcept,
                   void* argument) noexcept {
  FERMATA_ASSERT(&other != &running);
  FERMATA_ASSERT(other.registers != nullptr);
  const KeptRegisters kept(other);
  Visit request{other, running, visit, argument};
  StackContext* const resumer = running.resumer;
  note_departure(running, other);
  boost::context::detail::ontop_fcontext(other.registers, &request, &visit_other);
  running.resumer = &other;
  note_arrival(running);
  other.registers = kept.restore();
  running.resumer = resumer;
}

}  // namespace fermata::detail
