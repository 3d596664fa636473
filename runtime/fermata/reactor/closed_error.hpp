// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "fermata/base/error.hpp"

namespace fermata::detail {

/// The error of an operation on a closed handle.
[[nodiscard]] inline std::exception_ptr closed_error(const char* text) {
  return std::make_exception_ptr(InputOutputError(text));
}

/// The error of whoever waits on a handle that is closed. Made for the first one: mostly nobody
/// waits.
class ParkedError {
 public:
  [[nodiscard]] const std::exception_ptr& get() {
    if (error_ == nullptr) error_ = closed_error("Stream was closed");
    return error_;
  }

 private:
  std::exception_ptr error_;
};

}  // namespace fermata::detail
