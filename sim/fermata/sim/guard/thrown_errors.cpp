// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/guard/thrown_errors.hpp"

#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/posix/real_function.hpp"

// Sanitizers have a version of their own as well, which a strong definition replaces. A strong one
// would clash with the C++ library where that is linked in; sanitizers do not allow that.
#if defined(__SANITIZE_ADDRESS__)
#define FERMATA_INTERPOSED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FERMATA_INTERPOSED
#endif
#endif
#ifndef FERMATA_INTERPOSED
#define FERMATA_INTERPOSED [[gnu::weak]]
#endif

namespace fermata::sim::detail {

class NoteThrows::Log {
 public:
  struct Throw {
    const void* object = nullptr;
    std::size_t frames = 0;
    std::array<void*, 32> stack;
  };

  void note(const void* object) noexcept {
    Throw& last = throws_[next_];
    next_ = (next_ + 1) % throws_.size();
    last.object = object;
    const int count = ::backtrace(last.stack.data(), static_cast<int>(last.stack.size()));
    FERMATA_ASSERT(count >= 0 && static_cast<std::size_t>(count) <= last.stack.size());
    last.frames = static_cast<std::size_t>(count);
  }
  /// The memory is used again, for another error, which need not be thrown.
  void forget(const void* object) noexcept {
    if (Throw* const found = find(object)) found->object = nullptr;
  }
  [[nodiscard]] Throw* find(const void* object) noexcept {
    FERMATA_ASSERT(object != nullptr);
    const auto found = std::find_if(throws_.begin(), throws_.end(),
                                    [&](const Throw& each) { return each.object == object; });
    return found == throws_.end() ? nullptr : &*found;
  }

 private:
  static constexpr std::size_t kMost = 64;
  std::array<Throw, kMost> throws_;
  std::size_t next_ = 0;
};

namespace {

thread_local NoteThrows::Log* throw_log = nullptr;

/// The error's own address, which is all that an exception_ptr of libstdc++ is made of.
const void* object_of(const std::exception_ptr& error) noexcept {
  static_assert(sizeof(error) == sizeof(void*));
  const void* object = nullptr;
  std::memcpy(&object, &error, sizeof(object));
  return object;
}

using Destructor = void (*)(void*);
constinit posix::RealFunction<void(void*, void*, Destructor)> real_throw("__cxa_throw");
constinit posix::RealFunction<void*(std::size_t)> real_allocate("__cxa_allocate_exception");

}  // namespace

NoteThrows::NoteThrows(bool wanted)
    : log_(wanted ? std::make_unique<Log>() : nullptr),
      outer_(std::exchange(throw_log, log_.get())) {}

NoteThrows::~NoteThrows() {
  FERMATA_ASSERT(throw_log == log_.get());
  throw_log = outer_;
}

std::span<const void* const> thrown_in(const std::exception_ptr& error) noexcept {
  if (throw_log == nullptr || error == nullptr) return {};
  const auto* const found = throw_log->find(object_of(error));
  if (found == nullptr) return {};
  return {found->stack.data(), found->frames};
}

void find_throw_functions() noexcept {
  real_throw.find();
  real_allocate.find();
}

}  // namespace fermata::sim::detail

extern "C" {

// Clang's sanitizers have theirs in the program as well, under this name.
[[gnu::weak]] void __interceptor___cxa_throw(void*, void*, void (*)(void*));

// Declared under names of our own: compilers declare the functions by themselves, each otherwise.
FERMATA_INTERPOSED void* allocate_noted(std::size_t size) noexcept asm("__cxa_allocate_exception");
[[noreturn]] FERMATA_INTERPOSED void throw_noted(void* object, void* type,
                                                 void (*destroy)(void*)) asm("__cxa_throw");

void* allocate_noted(std::size_t size) noexcept {
  using namespace fermata::sim::detail;
  void* const object = real_allocate.get()(size);
  if (throw_log != nullptr) throw_log->forget(object);
  return object;
}

void throw_noted(void* object, void* type, void (*destroy)(void*)) {
  using namespace fermata::sim::detail;
  if (throw_log != nullptr) throw_log->note(object);
  const auto throw_it =
      __interceptor___cxa_throw != nullptr ? &__interceptor___cxa_throw : real_throw.get();
  throw_it(object, type, destroy);
  __builtin_unreachable();
}

}  // extern "C"
