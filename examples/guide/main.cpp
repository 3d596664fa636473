// SPDX-License-Identifier: Apache-2.0

#include <fermata/uv/reactor.hpp>

#include "examples/guide/whole_tour.hpp"

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run(guide::whole_tour);
}
