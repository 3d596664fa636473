// SPDX-License-Identifier: Apache-2.0

// Three machines talk at once, over a network that loses, doubles and reorders: each hears what
// each other one has said, once and in order.

#include <chrono>
#include <fermata/sim.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "examples/udp_chat/udp_chat.hpp"

namespace {

using namespace std::chrono_literals;
using fermata::Address;

using Heard = std::map<Address, std::vector<std::string>>;  // By who said it.

SIM_TEST(UdpChat, ShowsEachMessageOnceAndInOrder) {
  const std::vector<std::string> texts{"one", "two", "three"};
  const std::vector<std::string> names{"ann", "bob", "cat"};
  const auto address_of = [&](const std::string& name) { return world.node(name).address(7800); };
  std::map<std::string, Heard> heard;  // By who heard it.
  std::size_t talking = names.size();
  for (const std::string& name : names) {
    world.node(name, [&, name] {
      Chat chat({"0.0.0.0", 7800}, [&](const Address& from, const std::string& text) {
        heard[name][from].push_back(text);
      });
      std::set<Address> others;
      for (const std::string& other : names) {
        if (other != name) others.insert(address_of(other));
      }
      for (const std::string& text : texts) chat.say(others, text);
      --talking;
      while (talking > 0) fermata::delay(100ms);  // The others may still want answers.
      fermata::delay(1s);                         // What is still under way arrives.
      chat.leave();
    });
  }
  world.run();
  for (const std::string& name : names) {
    for (const std::string& other : names) {
      if (other == name) continue;
      EXPECT_EQ(heard[name][address_of(other)], texts) << name << " heard " << other;
    }
  }
}

}  // namespace
