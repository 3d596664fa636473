// SPDX-License-Identifier: Apache-2.0

// The main() of a target that is not a simulated test, where libFuzzer is not linked in: runs each
// file that it is given, and each file of a folder.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/sim/fuzz/input_files.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> files = fermata::sim::input_files({argv + 1, argv + argc});
    if (files.empty()) throw fermata::UsageError("expected files, and folders of them");
    for (const std::string& file : files) {
      const std::vector<std::uint8_t> bytes = fermata::sim::load_input(file);
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::printf("replayed %zu inputs\n", files.size());
  } catch (const fermata::Error& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
  return 0;
}
