// SPDX-License-Identifier: Apache-2.0
#include <fermata/loop/loop.hpp>
#include <fermata/loop/tcp/server.hpp>

#include <string_view>

int main() {
  using namespace fermata::loop;
  return to_string(TcpState::Closed) == std::string_view("closed") ? 0 : 1;
}
