// SPDX-License-Identifier: Apache-2.0

// Five philosophers eat three times each.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/dining_philosophers/dining_philosophers.hpp"

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    Table table(5);
    std::vector<fermata::Coroutine<>> philosophers;
    for (std::size_t seat = 0; seat < 5; ++seat) {
      philosophers.push_back(fermata::spawn("philosopher " + std::to_string(seat),
                                            [&table, seat] { table.dine(seat, 3); }));
    }
    for (const auto& philosopher : philosophers) fermata::await(philosopher);
    std::printf("%d meals\n", table.meals_eaten());
  });
}
