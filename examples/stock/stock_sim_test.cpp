// SPDX-License-Identifier: Apache-2.0
#include "examples/stock/stock.hpp"

#include <fermata/sim_property.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace example {
namespace {

using namespace std::chrono_literals;

constexpr int kPieces = 5;

SIM_PROPERTY(Stock, ServesEveryOrder, (const std::vector<std::uint8_t>& wishes)) {
  Stock stock(kPieces);
  std::vector<fermata::Coroutine<>> customers;
  for (const std::uint8_t wish : wishes) {
    const std::string name = "customer " + std::to_string(customers.size() + 1);
    customers.push_back(fermata::spawn(name, [&stock, wish] {
      const Stock::Order order = stock.take(1 + wish % kPieces);
      fermata::delay(fermata::random(20) * 1ms);
    }));
  }
  fermata::when_all_settled(customers);
  EXPECT_TRUE(stock.is_whole());
}

SIM_TEST(Stock, IsWholeAfterAnyInterruption) {
  Stock stock(kPieces);
  world.sweep_cancellation(
      [&] {
        std::vector<fermata::Coroutine<>> customers;
        for (int pieces = 2; pieces <= 4; ++pieces) {
          customers.push_back(fermata::spawn("customer", [&stock, pieces] {
            const Stock::Order order = stock.take(pieces, {.timeout = 1s});
            fermata::suspend();
          }));
        }
        fermata::when_all_settled(customers);
      },
      {.then = [&] { const Stock::Order all = stock.take(kPieces, {.timeout = 1s}); },
       .check = [&] { EXPECT_TRUE(stock.is_whole()); }});
}

}  // namespace
}  // namespace example
