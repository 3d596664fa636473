// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/test_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/base/whole_file.hpp"
#include "fermata/sim/run/canary.hpp"
#include "fermata/sim/run/environment.hpp"

namespace fermata::sim::detail {
namespace {

struct SimulatedTest {
  const char* suite;
  const char* name;
  const char* file;
  int line;
};

std::vector<SimulatedTest>& simulated_tests() {
  static std::vector<SimulatedTest> tests;
  return tests;
}

// For programs whose main() is GoogleTest's.
class Lister final : public ::testing::EmptyTestEventListener {
  void OnTestProgramStart(const ::testing::UnitTest& /*tests*/) override { list_tests_if_asked(); }
};

void write_list(const std::string& path) {
  FERMATA_ASSERT(!path.empty());
  std::string text = "fermata-tests 1\n";
  for (const SimulatedTest& test : simulated_tests()) {
    text += fmt::format("{}:{} {}.{}\n", test.file, test.line, test.suite, test.name);
  }
  const auto all = static_cast<std::size_t>(::testing::UnitTest::GetInstance()->total_test_count());
  FERMATA_ASSERT(all >= simulated_tests().size());
  write_whole_file(path, text + fmt::format("end {}\n", all - simulated_tests().size()));
}

}  // namespace

bool register_simulated_test(const char* suite, const char* name, const char* file, int line) {
  FERMATA_ASSERT(suite != nullptr);
  FERMATA_ASSERT(name != nullptr);
  FERMATA_ASSERT(file != nullptr);
  FERMATA_ASSERT(line > 0);
  if (simulated_tests().empty()) {
    ::testing::UnitTest::GetInstance()->listeners().Append(new Lister);
    add_canary_if_asked();
  }
  simulated_tests().push_back({.suite = suite, .name = name, .file = file, .line = line});
  return true;
}

void list_tests_if_asked() {
  try {
    const std::string& path = process_options().list;
    if (path.empty()) return;
    write_list(path);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    std::exit(1);
  }
  std::exit(0);
}

}  // namespace fermata::sim::detail
