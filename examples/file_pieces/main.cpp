// SPDX-License-Identifier: Apache-2.0

// Usage: example_file_pieces [--loop NAME] [FILE]. Counts the bytes of a file, or of itself,
// without stopping the clock; fails on drivers that have no files.

#include <cstdio>
#include <string>

#include "examples/driver_flag.hpp"
#include "examples/file_pieces/file_pieces.hpp"

int main(int argc, char** argv) {
  const example::Usage usage{.program = "example_file_pieces", .operands = " [FILE]", .most = 1};
  return example::run_on_driver(usage, argc, argv, [&](example::Operands operands) {
    const std::string path = operands.empty() ? argv[0] : operands[0];
    fermata::loop::Loop loop;
    std::size_t bytes = 0;
    int code = 0;
    read_in_pieces(
        loop, path, [&](std::span<const std::byte> piece) { bytes += piece.size(); },
        [&](std::exception_ptr error) {
          code = error ? 1 : 0;
          std::printf("%s: %s\n", path.c_str(),
                      error ? fermata::message_of(error).c_str()
                            : (std::to_string(bytes) + " bytes").c_str());
        });
    loop.run();
    return code;
  });
}
