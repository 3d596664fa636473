// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/base/assert.hpp"

namespace fermata::uring::detail {

class Ring;

/// Something that the kernel does. From its start to its last completion it stays where it is, with
/// all memory that the kernel was given for it.
class Operation {
 public:
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  [[nodiscard]] bool is_in_flight() const noexcept { return in_flight_; }

 protected:
  Operation() = default;
  ~Operation() { FERMATA_ASSERT(!in_flight_); }

 private:
  friend class Ring;

  /// `result` is negative for an error; `flags` are those of the completion. It was the last one
  /// unless is_in_flight().
  virtual void completed(int result, std::uint32_t flags) noexcept = 0;

  bool in_flight_ = false;
  bool cancelled_ = false;  // Its end was asked for.
};

/// Tells a member function of its owner.
template <class Owner, void (Owner::*kCompleted)(int, std::uint32_t) noexcept>
class OperationOf final : public Operation {
 public:
  explicit OperationOf(Owner& owner) noexcept : owner_(owner) {}
  ~OperationOf() = default;

 private:
  void completed(int result, std::uint32_t flags) noexcept override {
    (owner_.*kCompleted)(result, flags);
  }

  Owner& owner_;
};

}  // namespace fermata::uring::detail
