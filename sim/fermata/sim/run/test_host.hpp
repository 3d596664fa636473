// SPDX-License-Identifier: Apache-2.0
#pragma once

// The test framework that runs a simulated test: GoogleTest, unless the test came from another one
// (framework_test.hpp). What a simulated test tells its framework goes through here.

#include <string>
#include <vector>

namespace fermata::sim::detail {

/// A framework other than GoogleTest, for one test. While it lives it is told everything.
class TestHost {
 public:
  TestHost(std::string name, std::vector<std::string> arguments);
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The arguments with which this program runs this test alone.
  [[nodiscard]] const std::vector<std::string>& arguments() const noexcept { return arguments_; }

  virtual void fail(const std::string& report) = 0;
  virtual void skip(const std::string& reason) = 0;

 protected:
  ~TestHost();

 private:
  std::string name_;
  std::vector<std::string> arguments_;
};

/// The one that lives; null: the test is one of GoogleTest.
[[nodiscard]] const TestHost* test_host() noexcept;

/// The running test fails with `report`; its code goes on.
void fail_test(const std::string& report);
/// The running test is skipped; its code goes on.
void skip_test(const std::string& reason);
/// A property of the running test, for GoogleTest's own reports.
void note_of_test(const std::string& property, const std::string& value);

}  // namespace fermata::sim::detail
