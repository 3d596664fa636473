// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace fermata {

/// Owns one reference to an object that counts them: add_ref() and release().
template <class E>
class Ref {
 public:
  Ref() noexcept = default;
  /// Takes over a reference that the caller holds.
  static Ref adopt(E& event) noexcept { return Ref(&event); }
  /// Adds a reference of its own.
  static Ref share(E& event) noexcept {
    event.add_ref();
    return Ref(&event);
  }
  Ref(const Ref& other) noexcept : event_(other.event_) {
    if (event_ != nullptr) event_->add_ref();
  }
  Ref(Ref&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Ref() {
    if (event_ != nullptr) event_->release();
  }

  [[nodiscard]] E* get() const noexcept { return event_; }
  E& operator*() const noexcept { return *event_; }
  E* operator->() const noexcept { return event_; }
  explicit operator bool() const noexcept { return event_ != nullptr; }
  void reset() noexcept { *this = Ref(); }
  /// Gives up the reference without dropping it.
  [[nodiscard]] E* detach() noexcept { return std::exchange(event_, nullptr); }

 private:
  explicit Ref(E* event) noexcept : event_(event) {}
  E* event_ = nullptr;
};

}  // namespace fermata
