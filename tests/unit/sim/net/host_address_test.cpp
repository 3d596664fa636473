// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/net/host_address.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace fermata::sim::detail {
namespace {

constexpr std::uint32_t kHost = 0x0a000001;  // 10.0.0.1

TEST(HostAddress, LeadsBackToItsMachineInBothVersions) {
  for (const IpVersion version : {IpVersion::V4, IpVersion::V6}) {
    for (const std::uint32_t host : {kHost, kLoopback, kHost + 255}) {
      const Address address = host_address(version, host, 80);
      EXPECT_EQ(address.version(), version);
      EXPECT_EQ(address.port(), 80);
      EXPECT_EQ(host_number(address), host) << address.text();
    }
  }
  EXPECT_EQ(host_address(IpVersion::V6, kHost, 80).text(), "[fd00::a00:1]:80");
  EXPECT_EQ(host_address(IpVersion::V6, kLoopback, 80).text(), "[::1]:80");
}

TEST(HostAddress, AMappedAddressIsThatOfVersionFour) {
  EXPECT_EQ(host_number(Address("::ffff:10.0.0.1", 80)), kHost);
  EXPECT_EQ(host_number(Address("::ffff:127.0.0.1", 80)), kLoopback);
  EXPECT_TRUE(same_ip(Address("::ffff:10.0.0.1", 80), Address("10.0.0.1", 81)));
}

TEST(HostAddress, NoMachineHasAnyOther) {
  for (const auto* other : {"2001:db8::1", "fd00::", "fd00::7f00:1", "fd00::1:a00:1", "ff02::1"}) {
    EXPECT_EQ(host_number(Address(other, 80)), std::nullopt) << other;
  }
}

TEST(HostAddress, OnlyAnyAddressOfVersionSixGetsBothVersions) {
  const auto got = [](const char* bound) {
    const Address address(bound, 80);
    return std::pair(gets(address, IpVersion::V4), gets(address, IpVersion::V6));
  };
  EXPECT_EQ(got("::"), std::pair(true, true));
  EXPECT_EQ(got("0.0.0.0"), std::pair(true, false));
  EXPECT_EQ(got("::ffff:0.0.0.0"), std::pair(true, false));
  EXPECT_EQ(got("::ffff:10.0.0.1"), std::pair(true, false));
  EXPECT_EQ(got("fd00::a00:1"), std::pair(false, true));
}

}  // namespace
}  // namespace fermata::sim::detail
