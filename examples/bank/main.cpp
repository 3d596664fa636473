// SPDX-License-Identifier: Apache-2.0

// Usage: example_bank [URL [PORT]]. Transfers between ten accounts in the database at URL, which is
// the file bank.db unless told otherwise. Try it with `nc 127.0.0.1 7790`:
//   {"transfer": "k1", "from": 1, "to": 2, "amount": 10}

#include <cstdio>
#include <exception>
#include <fermata/uv/reactor.hpp>
#include <string>

#include "examples/bank/service.hpp"

int main(int argc, char** argv) {
  try {
    const std::string url = argc > 1 ? argv[1] : "sqlite:///bank.db";
    const std::string port = argc > 2 ? argv[2] : "7790";
    fermata::Runtime runtime(fermata::uv::make_reactor(), {.name = "bank"});
    return runtime.run([&] {
      auto database = fermata::db::Database::connect(url, {.name = "bank", .max = 8});
      bank::Bank bank(database);
      bank.open(10, 100);
      auto listener = fermata::TcpListener::bind(fermata::Address::parse("127.0.0.1:" + port));
      std::printf("the bank on %s listens at %s\n", database.text().c_str(),
                  listener.local_address().text().c_str());
      std::fflush(stdout);
      bank::serve(bank, listener);
    });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bank: %s\n", error.what());
    return 1;
  }
}
