// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/error.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>
#include <type_traits>
#include <typeinfo>

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
      throw OperationCancelled();
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
  EXPECT_TRUE(is_cancellation(std::make_exception_ptr(OperationCancelled())));
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
  const auto c = error("c");
  const auto chain = chain_of(link_previous(link_previous(error("a"), error("b")), c));
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(message_of(chain[0]), "a");
  EXPECT_EQ(message_of(chain[1]), "b");
  EXPECT_EQ(chain[2], c) << "what is displaced is the very same";
}

TEST(Error, NeverLinksACycle) {
  FERMATA_CHECKS("CORE-CN-06");
  const auto a = error("a");
  const auto b = error("b");
  EXPECT_EQ(link_previous(a, a), a);
  const auto a_over_b = link_previous(a, b);
  EXPECT_EQ(link_previous(a_over_b, b), a_over_b) << "b is part of the chain already";
  EXPECT_EQ(describe(link_previous(b, a_over_b)),
            "fermata::Error: b\n  previous: fermata::Error: a\n  previous: fermata::Error: b")
      << "a must not get lost";
}

// One reason ends many coroutines, each with an error of its own.
TEST(Error, LeavesWhatItLinksAsItWas) {
  FERMATA_CHECKS("CORE-CN-06");
  const auto reason = std::make_exception_ptr(Cancellation("shutdown"));
  const auto one = link_previous(reason, error("of one"));
  const auto another = link_previous(reason, error("of another"));
  EXPECT_EQ(describe(one), "fermata::Cancellation: shutdown\n  previous: fermata::Error: of one");
  EXPECT_EQ(describe(another),
            "fermata::Cancellation: shutdown\n  previous: fermata::Error: of another");
  EXPECT_EQ(chain_of(reason).size(), 1u);
  EXPECT_EQ(chain_of(link_previous(one, error("older"))).size(), 3u);
  EXPECT_EQ(chain_of(one).size(), 2u);
}

template <class E>
void expect_to_keep_its_type(const E& exception) {
  const auto head = link_previous(std::make_exception_ptr(exception), error("older"));
  try {
    std::rethrow_exception(head);
  } catch (const E& same) {
    EXPECT_EQ(typeid(same), typeid(E));
    EXPECT_STREQ(same.what(), exception.what());
    EXPECT_EQ(message_of(same.previous()), "older");
  }
}

struct BadGateway : Linkable<BadGateway, InputOutputError> {
  using Linkable::Linkable;
};

TEST(Error, KeepsItsTypeAtTheHeadOfAChain) {
  expect_to_keep_its_type(Error("x"));
  expect_to_keep_its_type(UsageError("x"));
  expect_to_keep_its_type(Unsupported("part", "reactor"));
  expect_to_keep_its_type(DeadlockError("x"));
  expect_to_keep_its_type(LivelockError("x"));
  expect_to_keep_its_type(Timeout("x"));
  expect_to_keep_its_type(StackExhausted("x"));
  expect_to_keep_its_type(InputOutputError("read", EIO));
  expect_to_keep_its_type(PollError("poll", EBADF));
  expect_to_keep_its_type(CompositeError({error("a"), error("b")}));
  expect_to_keep_its_type(Cancellation("x"));
  expect_to_keep_its_type(OperationCancelled("x"));
  expect_to_keep_its_type(BadGateway("upstream", ECONNREFUSED));
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

TEST(Error, LetsAForeignErrorForgetACancellation) {
  const auto foreign = std::make_exception_ptr(std::logic_error("foreign"));
  const auto cancelled = link_previous(std::make_exception_ptr(Cancellation("outer")),
                                       std::make_exception_ptr(Cancellation("inner")));
  EXPECT_EQ(link_previous(foreign, cancelled), foreign) << "a handler still finds its type";
}

TEST(Error, KeepsACancellationACancellation) {
  struct Stop : Cancellation {
    using Cancellation::Cancellation;
  };
  const auto stop = std::make_exception_ptr(Stop("own kind"));
  const auto head = link_previous(stop, error("older"));
  EXPECT_TRUE(is_cancellation(head));
  EXPECT_EQ(describe(head),
            "fermata::Cancellation: own kind\n"
            "  previous: fermata::CompositeError: 2 errors; own kind; older");
}

TEST(Error, KnowsWhetherAChainCarriesAnError) {
  const auto cancellation = std::make_exception_ptr(Cancellation());
  EXPECT_FALSE(carries_error(nullptr));
  EXPECT_FALSE(carries_error(cancellation));
  EXPECT_TRUE(carries_error(error("x")));
  EXPECT_TRUE(carries_error(link_previous(cancellation, error("x"))));
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
