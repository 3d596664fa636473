// SPDX-License-Identifier: Apache-2.0

// Blocking clients and their server, in one thread of a real program.

#include <cstdio>
#include <fermata/runtime.hpp>
#include <fermata/uv/reactor.hpp>
#include <memory>

#include "examples/foreign_client/store.hpp"
#include "examples/foreign_client/visitors.hpp"

namespace {

using foreign_client::Store;
using foreign_client::Visitors;
using foreign_client::Way;

constexpr std::uint16_t kPort = 16379;

void count(const char* name) {
  fermata::posix::suspending([&] {
    Visitors visitors("127.0.0.1", kPort, Way::kAddToSet);
    visitors.count(name);
  });
}

}  // namespace

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    const auto store = std::make_shared<Store>();
    const auto server = fermata::spawn([store] { foreign_client::serve(kPort, store); });
    fermata::when_all({fermata::spawn([] { count("ann"); }), fermata::spawn([] { count("bob"); }),
                       fermata::spawn([] { count("eve"); })});
    std::printf("%zu visitors\n", store->count("visitors"));
    server.cancel();
  });
}
