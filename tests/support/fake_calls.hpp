// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_kernel.hpp"

namespace fermata::test {

/// The calls of a FakeKernel, as a table.
struct FakeCalls {
  static os::SystemCalls table(FakeKernel& kernel);
  static void leave(FakeKernel& kernel) noexcept;

 private:
  static void fill_time(os::SystemCalls& calls);
  static void fill_descriptors(os::SystemCalls& calls);
  static void fill_waits(os::SystemCalls& calls);
  static void fill_sockets(os::SystemCalls& calls);
  static int trouble_of_accept(FakeKernel& kernel);
};

}  // namespace fermata::test
