// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/address.hpp"

#include <gtest/gtest.h>

#include "fermata/base/error.hpp"
#include "tests/support/events.hpp"

namespace fermata {
namespace {

TEST(Address, IsReadFromTextAndWrittenBack) {
  const Address address = Address::parse("127.0.0.1:7777");
  EXPECT_EQ(address.version(), IpVersion::V4);
  EXPECT_EQ(address.v4_number(), 0x7f000001u);
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
            "fermata::UsageError: address '127.0.0.1': expected ip:port, as 127.0.0.1:7777 or "
            "[fd00::7]:7777");
  EXPECT_EQ(error("127.0.0.1:70000"),
            "fermata::UsageError: address '127.0.0.1:70000': expected a port between 0 and 65535");
  EXPECT_EQ(error("localhost:1"),
            "fermata::UsageError: address 'localhost': expected a numeric IP address, as "
            "127.0.0.1 or fd00::7");
  for (const auto* text :
       {"1.2.3:4", "1.2.3.4.5:6", "1.2.3.256:7", "1.2.3.04:5", "1.2.3.:4", "1.2.3.4:", "1.2.3.4:-1",
        "1.2.3.4:+1", " 1.2.3.4:1", "", "::1:7", "[::1]", "[::1:7", "[1.2.3.4]:7", "[:::1]:7",
        "[::1%]:7", "[::1%lo]:7", "[12345::]:7", "[]:7"}) {
    EXPECT_NE(error(text), "") << text;
  }
}

TEST(Address, OfVersion6IsReadFromTextAndWrittenBackInShort) {
  const Address address = Address::parse("[FD00:0:0:0:0:0:a00:1]:7777");
  EXPECT_EQ(address.version(), IpVersion::V6);
  EXPECT_EQ(address.port(), 7777);
  EXPECT_EQ(address.ip_text(), "fd00::a00:1");
  EXPECT_EQ(address.text(), "[fd00::a00:1]:7777");
  EXPECT_EQ(address, Address("fd00::a00:1", 7777));
  EXPECT_EQ(Address::parse("[::]:0").text(), "[::]:0");
  const Address local = Address("fe80::7%2", 1);
  EXPECT_EQ(local.scope(), 2u);
  EXPECT_EQ(local.text(), "[fe80::7%2]:1");
  EXPECT_NE(local, Address("fe80::7", 1));
}

TEST(Address, OfVersion4HasAFormThatSocketsOfVersion6See) {
  const Address four("127.0.0.1", 80);
  const Address mapped = four.mapped();
  EXPECT_EQ(mapped.text(), "[::ffff:127.0.0.1]:80");
  EXPECT_EQ(mapped, Address("::ffff:127.0.0.1", 80));
  EXPECT_NE(mapped, four);
  EXPECT_EQ(mapped.unmapped(), four);
  EXPECT_EQ(mapped.v4_number(), 0x7f000001u);
  EXPECT_EQ(Address("::1", 80).mapped(), Address("::1", 80));
  EXPECT_EQ(Address("::1", 80).unmapped(), Address("::1", 80));
}

TEST(Address, TellsWhichOnesAreSpecial) {
  for (const auto* any : {"0.0.0.0", "::", "::ffff:0.0.0.0"}) {
    EXPECT_TRUE(Address(any, 1).is_any()) << any;
  }
  for (const auto* loopback : {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(Address(loopback, 1).is_loopback()) << loopback;
  }
  for (const auto* group : {"224.0.0.1", "239.1.1.1", "ff02::1", "::ffff:224.0.0.1"}) {
    EXPECT_TRUE(Address(group, 1).is_multicast()) << group;
  }
  EXPECT_TRUE(Address("255.255.255.255", 1).is_broadcast());
  for (const auto* plain : {"10.0.0.1", "fd00::1", "::2", "::ffff:10.0.0.1"}) {
    const Address address(plain, 1);
    EXPECT_FALSE(address.is_any() || address.is_loopback()) << plain;
    EXPECT_FALSE(address.is_multicast() || address.is_broadcast()) << plain;
  }
}

}  // namespace
}  // namespace fermata
