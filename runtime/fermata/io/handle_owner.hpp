// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/ref.hpp"
#include "fermata/base/source_place.hpp"

namespace fermata::detail {

/// A value that owns what it stands for: its end closes the handle, and never suspends. Moves only.
template <class H>
class HandleOwner {
 public:
  /// No handle: it can be assigned to, closed and destroyed, and is not open; everything else
  /// throws UsageError. One that was moved from is the same.
  HandleOwner() noexcept = default;
  /// `made_at` stands in reports of handles that were left open.
  HandleOwner(Ref<H> handle, const SourcePlace& made_at) noexcept : handle_(std::move(handle)) {
    handle_->set_made_at(made_at);
  }
  HandleOwner(HandleOwner&& other) noexcept = default;
  HandleOwner& operator=(HandleOwner&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = std::move(other.handle_);
    }
    return *this;
  }
  ~HandleOwner() { close(); }

  /// Closes the handle. Operations that wait on it fail. Idempotent.
  void close() noexcept {
    if (handle_) handle_->close();
  }

  [[nodiscard]] bool is_open() const noexcept { return handle_ && !handle_->is_closed(); }
  /// Throws UsageError on a value that has none.
  [[nodiscard]] H& handle() const {
    FERMATA_REQUIRE(handle_,
                    "handle: an empty value: expected one that was opened, and not moved from");
    return *handle_;
  }

 private:
  Ref<H> handle_;
};

}  // namespace fermata::detail
