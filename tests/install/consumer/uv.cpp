// SPDX-License-Identifier: Apache-2.0
#include <fermata/runtime.hpp>
#include <fermata/uv/reactor.hpp>

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    auto answer = fermata::spawn("answer", [] { return 42; });
    return fermata::await(answer) == 42 ? 0 : 1;
  });
}
