// SPDX-License-Identifier: Apache-2.0

// Three talk at once, over a network that loses, doubles and reorders: each hears what each other
// one has said, once and in order.

#include <chrono>
#include <fermata/sim.hpp>
#include <map>
#include <memory>
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
  const std::vector<Address> all{{"127.0.0.1", 7801}, {"127.0.0.1", 7802}, {"127.0.0.1", 7803}};
  std::map<Address, Heard> heard;  // By who heard it.
  std::vector<std::unique_ptr<Chat>> chats;
  for (const Address& me : all) {
    chats.push_back(std::make_unique<Chat>(me, [&heard, me](const Address& from, const auto& text) {
      heard[me][from].push_back(text);
    }));
  }
  std::vector<fermata::Coroutine<>> talkers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    talkers.push_back(fermata::spawn("talker", [&, i] {
      std::set<Address> others(all.begin(), all.end());
      others.erase(all[i]);
      for (const std::string& text : texts) chats[i]->say(others, text);
    }));
  }
  for (const auto& talker : talkers) fermata::await(talker);
  fermata::delay(1s);  // What is still under way arrives.
  for (const auto& chat : chats) chat->leave();
  for (const Address& me : all) {
    for (const Address& other : all) {
      if (other == me) continue;
      EXPECT_EQ(heard[me][other], texts) << me.text() << " heard " << other.text();
    }
  }
}

}  // namespace
