// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/address.hpp"

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"
#include "tests/support/events.hpp"

namespace fermata {
namespace {

TEST(Address, IsReadFromTextAndWrittenBack) {
  const Address address = Address::parse("127.0.0.1:7777");
  EXPECT_EQ(address.ip(), 0x7f000001u);
  EXPECT_EQ(address.port(), 7777);
  EXPECT_EQ(address.text(), "127.0.0.1:7777");
  EXPECT_EQ(address, Address("127.0.0.1", 7777));
  EXPECT_EQ(Address().text(), "0.0.0.0:0");
}

TEST(Address, WhatIsNoAddressIsRefusedWithWhatWasExpected) {
  const auto error = [](std::string_view text) {
    return test::thrown_by([&] { (void)Address::parse(text); });
  };
  EXPECT_EQ(error("127.0.0.1"),
            "fermata::UsageError: address '127.0.0.1': expected ip:port, as 127.0.0.1:7777");
  EXPECT_EQ(error("127.0.0.1:70000"),
            "fermata::UsageError: address '127.0.0.1:70000': expected a port between 0 and 65535");
  EXPECT_EQ(error("localhost:1"),
            "fermata::UsageError: address 'localhost': expected a numeric IPv4 address, as "
            "127.0.0.1");
  for (const auto* text : {"1.2.3:4", "1.2.3.4.5:6", "1.2.3.256:7", "1.2.3.04:5", "1.2.3.:4",
                           "1.2.3.4:", "1.2.3.4:-1", "1.2.3.4:+1", " 1.2.3.4:1", ""}) {
    EXPECT_NE(error(text), "") << text;
  }
}

}  // namespace
}  // namespace fermata
