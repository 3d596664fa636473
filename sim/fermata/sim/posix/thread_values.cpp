// SPDX-License-Identifier: Apache-2.0

// What is done once, and values of threads.

#include <climits>
#include <memory>

#include "fermata/base/assert.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/foreign_threads.hpp"

namespace fermata::sim::detail {

// --- once ---

namespace {

// The C library's bit for what has been done.
constexpr int kDone = 2;
// Another one is at it, in this life of a process; behind it stands which life that is.
constexpr int kBegun = 1;
constexpr int kLifeShift = 2;

}  // namespace

int ForeignThreads::once(pthread_once_t& control, void (*routine)()) {
  constexpr const char* kCall = "pthread_once";
  if ((control & kDone) != 0) return 0;
  if (begins_in_vain(kCall)) return 0;
  const int begun = kBegun | static_cast<int>(life_ << kLifeShift);
  while (control == begun) {
    const Ended ended = park({.call = kCall, .kind = "once", .object = &control}, {});
    if (ended == Ended::Over) return 0;
  }
  if ((control & kDone) != 0) return 0;
  control = begun;
  try {
    routine();
  } catch (...) {
    control = 0;
    wake_all(&control);
    throw;
  }
  control = kDone;
  wake_all(&control);
  return 0;
}

// --- values ---

ForeignThreads::Values& ForeignThreads::values() {
  Runtime& runtime = current_runtime();
  CoroutineBase* const self = runtime.current();
  if (self == nullptr) return values_of_callbacks_;
  if (!slot_) slot_ = runtime.allocate_slot();
  std::shared_ptr<void>& held = self->slot(*slot_);
  if (held == nullptr) held = std::make_shared<Values>();
  return *static_cast<Values*>(held.get());
}

int ForeignThreads::create_key(pthread_key_t& key, void (*destructor)(void*)) {
  if (keys_.size() >= PTHREAD_KEYS_MAX) return EAGAIN;
  key = next_key_++;
  keys_.emplace(key, destructor);
  return 0;
}

int ForeignThreads::delete_key(pthread_key_t key) { return keys_.erase(key) == 1 ? 0 : EINVAL; }

int ForeignThreads::set(pthread_key_t key, const void* value) {
  if (keys_.find(key) == keys_.end()) return EINVAL;
  values()[key] = value;
  return 0;
}

void* ForeignThreads::get(pthread_key_t key) {
  if (keys_.find(key) == keys_.end()) return nullptr;
  const Values& all = values();
  const auto found = all.find(key);
  return found == all.end() ? nullptr : const_cast<void*>(found->second);
}

// A destructor may set values again, as often as POSIX lets it.
void ForeignThreads::destroy_values() {
  for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    const Values all = std::exchange(values(), {});
    bool has_called = false;
    for (const auto& [key, value] : all) {
      const auto destructor = keys_.find(key);
      if (value == nullptr || destructor == keys_.end() || destructor->second == nullptr) continue;
      has_called = true;
      destructor->second(const_cast<void*>(value));
    }
    if (!has_called) return;
  }
}

}  // namespace fermata::sim::detail
