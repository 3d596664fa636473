// SPDX-License-Identifier: Apache-2.0

// A deposit that was not confirmed in time is sent again. It may have been made all the same; the
// bank has to know that it has seen this one.

#include <memory>
#include <set>

#include "properties/zoo/applications/application.hpp"
#include "properties/zoo/applications/peers.hpp"

namespace fermata::properties::zoo {

using namespace std::chrono_literals;

namespace {

struct Account {
  int balance = 0;
  std::set<std::string> seen;
};

}  // namespace

FERMATA_APPLICATION(DuplicateOnRetry) {
  const auto account = std::make_shared<Account>();
  world.service("bank", [account, variant] {
    serve_each(80, [account, variant](TcpStream& client) {
      const std::string number = read_line(client);
      if (number.empty()) return;
      const bool is_new = account->seen.insert(number).second;
      if (variant == Variant::Buggy || is_new) account->balance += 10;
      client.write("done\n");
      static_cast<void>(read_all(client));
    });
  });
  const auto customer = spawn("customer", [&] {
    for (int attempt = 0; attempt < 3; ++attempt) {
      try {
        const WaitOptions patience{.timeout = 20ms};
        auto bank = TcpStream::connect(world.node("bank").address(80), patience);
        bank.write("deposit-1\n", patience);
        if (read_line(bank, patience) == "done") return;
      } catch (const Error&) {  // No answer: once more.
      }
    }
  });
  spawn_bystanders(3);
  await(customer);
  EXPECT_LE(account->balance, 10);
}

}  // namespace fermata::properties::zoo
