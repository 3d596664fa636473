// SPDX-License-Identifier: Apache-2.0

// Usage: example_replication. An arbiter, three replicas and a client, all on this machine.

#include <cstdio>
#include <fermata/uv/reactor.hpp>

#include "examples/replication/replica.hpp"

int main() {
  const Members members{{"arbiter", {"127.0.0.1", 7010}},
                        {"one", {"127.0.0.1", 7011}},
                        {"two", {"127.0.0.1", 7012}},
                        {"three", {"127.0.0.1", 7013}}};
  fermata::Runtime runtime(fermata::uv::make_reactor());
  return runtime.run([&] {
    fermata::spawn("arbiter", [&] { serve(members.at("arbiter"), std::make_shared<Arbiter>()); });
    for (const char* name : {"one", "two", "three"}) {
      fermata::spawn("replica", [&, name] { run_replica(name, members); });
    }
    Client client(members);
    for (const char* entry : {"hello", "world"}) client.append(entry);
    std::printf("the log:%s\n", client.read().c_str());
    fermata::exit_with(0);
  });
}
