// SPDX-License-Identifier: Apache-2.0

// The arguments are files and folders; each file is an input that is run once. So a corpus is
// replayed with any compiler.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/fuzz/driver.hpp"
#include "fermata/sim/fuzz/input_files.hpp"

namespace fermata::sim::detail {
namespace {

std::vector<std::string> files;

}  // namespace

void take_arguments(int argc, char** argv) {
  files = input_files({argv + 1, argv + argc});
  if (files.empty()) {
    throw UsageError(
        "FERMATA_FUZZ: no inputs; expected files and folders of them, since this program is linked "
        "without libFuzzer");
  }
}

void drive(FuzzSession& session) {
  std::size_t failed = 0;
  for (const std::string& file : files) {
    if (session.run(load_input(file))) continue;
    ++failed;
    fmt::print(stderr, "{}: failed\n", file);
  }
  FERMATA_ASSERT(failed <= files.size());
  session.tell_end();
  fmt::print(stderr, "replayed {} inputs, {} failed\n", files.size(), failed);
}

}  // namespace fermata::sim::detail
