// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "fermata/base/error.hpp"

namespace fermata::detail {

/// The error of an operation on a closed handle.
[[nodiscard]] inline std::exception_ptr closed_error(const char* text) {
  return std::make_exception_ptr(InputOutputError(text));
}

}  // namespace fermata::detail
