// SPDX-License-Identifier: Apache-2.0

// Usage: example_hedged_pool. An origin that is slow at times and a client, both on this machine.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/hedged_pool/hedged_pool.hpp"

int main() {
  const fermata::Address origin("127.0.0.1", 7040);
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    fermata::spawn("origin", [&] { hedged_pool::serve_origin(origin); });
    fermata::suspend();  // Lets it begin.
    hedged_pool::Client client(origin);
    for (const char* key : {"red", "green", "blue"}) std::printf("%s\n", client.get(key).c_str());
    fermata::exit_with(0);
  });
}
