// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/main_test.hpp"
#include "tests/support/virtual_reactor.hpp"

namespace fermata::test {

/// A test with a runtime on a virtual reactor.
class RuntimeFixture : public ::testing::Test {
 protected:
  template <class Body>
  int run(Body&& body) {
    return fixture.run(std::forward<Body>(body));
  }

  TestRuntime fixture;
  Runtime& runtime = fixture.runtime;
};

}  // namespace fermata::test
