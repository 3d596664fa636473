// SPDX-License-Identifier: Apache-2.0

// Three clients give 30 jobs to two workers; then everything is brought to an orderly end.

#include <chrono>
#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/worker_pool/worker_pool.hpp"

using namespace std::chrono_literals;

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    int done = 0;
    WorkerPool pool(2, 4);
    std::vector<fermata::Coroutine<>> clients;
    for (int client = 0; client < 3; ++client) {
      clients.push_back(fermata::spawn("client", [&] {
        for (int i = 0; i < 10; ++i) {
          pool.submit([&done] {
            fermata::delay(1ms);
            ++done;
          });
        }
      }));
    }
    for (const auto& client : clients) fermata::await(client);
    pool.shut_down();
    std::printf("%d jobs done\n", done);
  });
}
