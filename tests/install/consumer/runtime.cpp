// SPDX-License-Identifier: Apache-2.0
#include <fermata/runtime.hpp>

int main() { return fermata::Address::parse("127.0.0.1:7777").port() == 7777 ? 0 : 1; }
