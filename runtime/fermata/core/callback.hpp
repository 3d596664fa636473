// SPDX-License-Identifier: Apache-2.0
#pragma once

// One subscription to an event.
//
// Ownership  Reference counted: each vector entry holds one reference, a running pass one more
//            (CORE-CB-06). The last one calls destroy().
// Limits     A callback is subscribed to at most one event at a time.

#include <cstdint>
#include <exception>

#include "fermata/base/assert.hpp"

namespace fermata {

class Event;

/// What an event tells its subscribers. The notifier owns both parts for the whole pass.
struct Outcome {
  void* result = nullptr;
  std::exception_ptr error;
};

namespace backend {

class CallbackVector;
class Registration;

class Callback {
 public:
  Callback() = default;
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;

  /// The event fired. Must not suspend. What it throws surfaces after the pass (CORE-CB-09).
  virtual void run(Event& event, const Outcome& outcome) = 0;

  /// The event that this callback is subscribed to, or null.
  [[nodiscard]] Event* event() const noexcept { return event_; }
  [[nodiscard]] std::uint32_t ref_count() const noexcept { return ref_count_; }
  /// Whether it is a Registration: a coroutine waits for the event.
  [[nodiscard]] bool is_registration() const noexcept { return is_registration_; }

  void add_ref() noexcept { ++ref_count_; }
  void release() noexcept {
    FERMATA_ASSERT(ref_count_ > 0);
    if (--ref_count_ == 0) destroy();
  }

 protected:
  ~Callback() = default;

  /// Nobody refers to this callback any more.
  virtual void destroy() noexcept = 0;

 private:
  friend class CallbackVector;
  friend class Registration;

  explicit Callback(bool is_registration) noexcept : is_registration_(is_registration) {}

  Event* event_ = nullptr;
  std::uint32_t ref_count_ = 0;
  std::uint32_t slot_ = 0;  // Index in its event's vector.
  bool is_registration_ = false;
};

}  // namespace backend
}  // namespace fermata
