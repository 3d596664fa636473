// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fermata/runtime/base/error.hpp"

namespace fermata::test {

/// The text of the Error that `operation` throws; "no error" when it throws none.
template <class Operation>
std::string error_of(Operation&& operation) {
  try {
    operation();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace fermata::test
