// SPDX-License-Identifier: Apache-2.0

#include "examples/guide/guide.hpp"

#include <fermata/runtime/uv/reactor.hpp>

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run(guide::tour);
}
