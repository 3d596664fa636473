// SPDX-License-Identifier: Apache-2.0

// Usage: example_file_pieces FILE. Counts the bytes of a file, without stopping the clock.

#include <cstdio>
#include <fermata/runtime/uv/reactor.hpp>

#include "examples/file_pieces/file_pieces.hpp"

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : argv[0];
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
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
