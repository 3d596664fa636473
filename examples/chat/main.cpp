// SPDX-License-Identifier: Apache-2.0

// Usage: example_chat [--loop NAME]. A room and two guests, on this machine, who greet and say
// good-bye; on any of the drivers uv, ev, event, select, pselect and epoll that this build has.

#include <cstdio>
#include <map>
#include <string>

#include "examples/chat/guest.hpp"
#include "examples/chat/room.hpp"
#include "examples/driver_flag.hpp"

namespace {

constexpr std::size_t kLines = 4;  // Of both guests.

void chat_a_little() {
  fermata::loop::Loop loop;
  chat::Room room(loop, {"127.0.0.1", 0});
  std::map<std::string, chat::Guest> guests;
  std::size_t here = 2;
  for (const std::string name : {"ann", "bob"}) {
    const auto show = [&, name](const std::string& line) {
      std::printf("%s is shown: %s\n", name.c_str(), line.c_str());
      chat::Guest& guest = guests.at(name);
      if (guest.shown() < kLines) return;
      guest.leave();
      if (--here == 0) room.stop();
    };
    guests.try_emplace(name, loop, room.address(), name, show);
  }
  for (const char* text : {"hello", "good-bye"}) {
    for (auto& [name, guest] : guests) guest.say(text);
  }
  loop.run();
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_on_driver({.program = "example_chat"}, argc, argv,
                                [](example::Operands) { chat_a_little(); });
}
