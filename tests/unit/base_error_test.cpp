// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <type_traits>

#include "tests/support/checks.hpp"

namespace fermata {
namespace {

std::exception_ptr error(const char* text) { return std::make_exception_ptr(Error(text)); }

TEST(Error, KeepsCancellationOutOfStandardHandlers) {
  FERMATA_CHECKS("CORE-CN-05");
  static_assert(!std::is_base_of_v<std::exception, Cancellation>);
  static_assert(!std::is_base_of_v<Error, Cancellation>);
  bool reached = false;
  try {
    try {
      throw OperationCanceled();
    } catch (const std::exception&) {
      FAIL() << "a handler for errors has swallowed a cancellation";
    }
  } catch (const Cancellation& cancellation) {
    reached = true;
    EXPECT_STREQ(cancellation.what(), "Operation has been cancelled");
  }
  EXPECT_TRUE(reached);
}

TEST(Error, TellsCancellationsFromErrors) {
  EXPECT_TRUE(is_cancellation(std::make_exception_ptr(Cancellation())));
  EXPECT_TRUE(is_cancellation(std::make_exception_ptr(OperationCanceled())));
  EXPECT_FALSE(is_cancellation(error("x")));
  EXPECT_FALSE(is_cancellation(std::make_exception_ptr(ForcedUnwind{})));
  EXPECT_FALSE(is_cancellation(nullptr));
  EXPECT_TRUE(is_forced_unwind(std::make_exception_ptr(ForcedUnwind{})));
  EXPECT_FALSE(is_forced_unwind(error("x")));
  EXPECT_FALSE(is_forced_unwind(nullptr));
}

TEST(Error, GivesTheTextOfAnything) {
  EXPECT_EQ(message_of(error("broken")), "broken");
  EXPECT_EQ(message_of(std::make_exception_ptr(Cancellation("stop"))), "stop");
  EXPECT_EQ(message_of(std::make_exception_ptr(42)), "int");
  EXPECT_EQ(message_of(nullptr), "");
}

TEST(Error, DescribesTheWholeChainNewestFirst) {
  const auto newest = link_previous(error("second"), std::make_exception_ptr(Timeout("first")));
  EXPECT_EQ(describe(newest), "fermata::Error: second\n  previous: fermata::Timeout: first");
  EXPECT_EQ(describe(std::make_exception_ptr(42)), "int");
  EXPECT_EQ(describe(nullptr), "");
}

TEST(Error, LinksAtTheEndOfTheChain) {
  const auto a = error("a");
  const auto b = error("b");
  const auto c = error("c");
  const auto head = link_previous(link_previous(a, b), c);
  EXPECT_EQ(chain_of(head), (std::vector{a, b, c}));
}

TEST(Error, NeverLinksACycle) {
  FERMATA_CHECKS("CORE-CN-06");
  const auto a = error("a");
  const auto b = error("b");
  EXPECT_EQ(chain_of(link_previous(a, a)).size(), 1u);
  EXPECT_EQ(chain_of(link_previous(link_previous(a, b), a)), (std::vector{a, b}));
  EXPECT_EQ(chain_of(link_previous(b, a)).size(), 1u) << "b is part of a's chain already";
}

TEST(Error, LinksNothingToNothing) {
  const auto a = error("a");
  EXPECT_EQ(link_previous(a, nullptr), a);
  EXPECT_EQ(link_previous(nullptr, a), a);
  EXPECT_EQ(link_previous(nullptr, nullptr), nullptr);
}

TEST(Error, WrapsAHeadThatCannotCarryAChain) {
  const auto foreign = std::make_exception_ptr(std::logic_error("foreign"));
  const auto older = error("older");
  const auto both = link_previous(foreign, older);
  try {
    std::rethrow_exception(both);
  } catch (const CompositeError& composite) {
    EXPECT_EQ(composite.errors(), (std::vector{foreign, older}));
    EXPECT_STREQ(composite.what(), "2 errors; foreign; older");
  }
}

TEST(Error, NamesWhatFailed) {
  const InputOutputError io("connect to 127.0.0.1:1", ECONNREFUSED);
  EXPECT_EQ(io.code(), ECONNREFUSED);
  EXPECT_STREQ(io.what(), "connect to 127.0.0.1:1: Connection refused");
  EXPECT_EQ(InputOutputError("the stream is closed").code(), 0);
  EXPECT_STREQ(Unsupported("offload", "virtual").what(), "reactor 'virtual' has no part 'offload'");
}

}  // namespace
}  // namespace fermata
