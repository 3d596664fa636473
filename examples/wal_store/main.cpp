// SPDX-License-Identifier: Apache-2.0

// Counts how often it was started: `example_wal_store DIRECTORY`.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/wal_store/wal_store.hpp"

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : ".";
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    wal_store::Store store(directory);
    const int starts = std::stoi(store.get("starts").value_or("0")) + 1;
    store.put("starts", std::to_string(starts));
    std::printf("start %d\n", starts);
  });
}
