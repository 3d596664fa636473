// SPDX-License-Identifier: Apache-2.0
#include "examples/box_office/box_office.hpp"

#include <fermata/sim.hpp>

#include <vector>

namespace example {
namespace {

using namespace std::chrono_literals;

SIM_TEST(BoxOffice, SellsEverySeatOnce) {
  BoxOffice office(2);
  FERMATA_EVENTUALLY(1min, office.sold_out(), "every seat is sold");
  std::vector<fermata::Coroutine<bool>> customers;
  for (int i = 0; i < 3; ++i) {
    customers.push_back(fermata::spawn("customer", [&] { return office.buy(); }));
  }
  fermata::when_all_settled(customers);
}

}  // namespace
}  // namespace example
