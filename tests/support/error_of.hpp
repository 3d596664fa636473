// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "fermata/base/error.hpp"

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

/// The message of the error, which must hold the system's error `code`; 0: none.
template <class Operation>
std::string error_of(Operation&& operation, int code) {
  try {
    operation();
  } catch (const InputOutputError& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  } catch (const UsageError& error) {
    EXPECT_EQ(code, 0);
    return error.what();
  }
  return "no error";
}

}  // namespace fermata::test
