// SPDX-License-Identifier: Apache-2.0

// Usage: example_udp_chat. Two take part, on this machine, and say good-bye.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/udp_chat/udp_chat.hpp"

int main() {
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([] {
    const fermata::Address ann_at("127.0.0.1", 7801);
    const fermata::Address bob_at("127.0.0.1", 7802);
    const auto show = [](const fermata::Address& speaker, const std::string& text) {
      std::printf("%s: %s\n", speaker.text().c_str(), text.c_str());
    };
    Chat ann(ann_at, show);
    Chat bob(bob_at, show);
    for (const char* text : {"hello", "nice weather"}) {
      ann.say({bob_at}, text);
      bob.say({ann_at}, text);
    }
    ann.leave();
    bob.leave();
  });
}
