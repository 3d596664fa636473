// SPDX-License-Identifier: Apache-2.0

// Usage: example_chat [--loop NAME]. A room and two guests, on this machine, who greet and say
// good-bye; on any of the drivers uv, ev, event, select, pselect and epoll that this build has.

#include <cstdio>
#include <fermata/runtime/loop/factory.hpp>
#include <map>
#include <string_view>

#include "examples/chat/guest.hpp"
#include "examples/chat/room.hpp"

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
  const bool names_one = argc == 3 && std::string_view(argv[1]) == "--loop";
  if (argc > 1 && !names_one) {
    std::fprintf(stderr, "usage: example_chat [--loop NAME]\n");
    return 2;
  }
  try {
    fermata::Runtime runtime(names_one ? fermata::loop::make_reactor(argv[2])
                                       : fermata::loop::make_reactor());
    return runtime.run(chat_a_little);
  } catch (const fermata::UsageError& error) {
    std::fprintf(stderr, "example_chat: %s\n", error.what());
    return 2;
  }
}
