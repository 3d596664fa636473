// SPDX-License-Identifier: Apache-2.0
#include "fermata/sync/channel_error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fermata::test {
namespace {

TEST(ChannelError, SaysWhy) {
  using enum CloseReason;
  EXPECT_STREQ(ChannelError(Explicit).what(), "Channel is closed");
  EXPECT_STREQ(ChannelError(Disposed).what(), "Channel disposed");
  EXPECT_STREQ(ChannelError(NoProducers).what(), "Channel deadlock: no producers");
  EXPECT_STREQ(ChannelError(NoConsumers).what(), "Channel deadlock: no consumers");
  EXPECT_STREQ(ChannelError(Deadlock).what(), "Channel deadlock");
  EXPECT_STREQ(ChannelError(ScopeDisposed).what(), "Channel closed: owner scope disposed");
}

TEST(ChannelError, KeepsItsTypeAndReasonInAChain) {
  const auto linked = link_previous(std::make_exception_ptr(ChannelError(CloseReason::NoConsumers)),
                                    std::make_exception_ptr(Error("cause")));
  try {
    std::rethrow_exception(linked);
  } catch (const ChannelError& error) {
    EXPECT_EQ(error.reason(), CloseReason::NoConsumers);
  }
  EXPECT_EQ(describe(linked),
            "fermata::ChannelError: Channel deadlock: no consumers\n"
            "  previous: fermata::Error: cause");
}

}  // namespace
}  // namespace fermata::test
