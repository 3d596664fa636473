// SPDX-License-Identifier: Apache-2.0

// Three backends, one of them too slow.

#include <chrono>
#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/fan_out/fan_out.hpp"

using namespace std::chrono_literals;

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    const auto backend = [](const char* name, fermata::Duration latency, int answer) {
      return Backend{name, [latency, answer] {
                       fermata::delay(latency);
                       return answer;
                     }};
    };
    const std::vector<Backend> backends = {backend("near", 1ms, 1), backend("far", 20ms, 2),
                                           backend("asleep", 1h, 3)};
    for (const int answer : ask_all(backends, 100ms)) std::printf("answer %d\n", answer);
  });
}
