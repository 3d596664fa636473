// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "fermata/base/error.hpp"

namespace fermata::detail {

/// What an operation on a handle fails with that is closed.
[[nodiscard]] inline std::exception_ptr closed_error(const char* text) {
  return std::make_exception_ptr(InputOutputError(text));
}

}  // namespace fermata::detail
