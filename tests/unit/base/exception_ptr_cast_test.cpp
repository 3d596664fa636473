// SPDX-License-Identifier: Apache-2.0
#include "fermata/base/exception_ptr_cast.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <exception>
#include <stdexcept>
#include <string>

#include "fermata/base/error.hpp"

namespace fermata {
namespace {

using detail::exception_ptr_cast;

struct Left {
  int left = 1;
};
struct Right {
  int right = 2;
};
struct Both : Left, Right {};
struct Virtual : virtual Right {
  int own = 3;
};
struct AlsoRight : Right {};
struct Twice : Both, AlsoRight {};  // Has two parts of type Right.
class Hidden : private Left {};

template <class E>
bool holds(const std::exception_ptr& error) {
  return exception_ptr_cast<E>(error) != nullptr;
}

TEST(ExceptionPtrCast, FindsNothingInNothing) { EXPECT_FALSE(holds<std::exception>(nullptr)); }

TEST(ExceptionPtrCast, FindsTheExceptionItself) {
  const auto error = std::make_exception_ptr(std::runtime_error("text"));
  const auto* const found = exception_ptr_cast<std::runtime_error>(error);
  ASSERT_NE(found, nullptr);
  EXPECT_STREQ(found->what(), "text");
  try {
    std::rethrow_exception(error);
  } catch (const std::runtime_error& thrown) {
    EXPECT_EQ(found, &thrown);
  }
}

TEST(ExceptionPtrCast, FindsEachBaseWhereItLies) {
  const auto both = std::make_exception_ptr(Both());
  ASSERT_TRUE(holds<Right>(both));
  EXPECT_EQ(exception_ptr_cast<Left>(both)->left, 1);
  EXPECT_EQ(exception_ptr_cast<Right>(both)->right, 2);
  const auto with_virtual_base = std::make_exception_ptr(Virtual());
  ASSERT_TRUE(holds<Right>(with_virtual_base));
  EXPECT_EQ(exception_ptr_cast<Right>(with_virtual_base)->right, 2);
}

TEST(ExceptionPtrCast, FindsWhatACatchClauseWouldTakeOnly) {
  EXPECT_FALSE(holds<std::logic_error>(std::make_exception_ptr(std::runtime_error(""))));
  EXPECT_FALSE(holds<Both>(std::make_exception_ptr(Left())));
  EXPECT_FALSE(holds<Left>(std::make_exception_ptr(Hidden())));
  EXPECT_FALSE(holds<Right>(std::make_exception_ptr(Twice())));
  EXPECT_TRUE(holds<Left>(std::make_exception_ptr(Twice())));
}

TEST(ExceptionPtrCast, FindsWhatIsNoClass) {
  const auto error = std::make_exception_ptr(7);
  ASSERT_TRUE(holds<int>(error));
  EXPECT_EQ(*exception_ptr_cast<int>(error), 7);
  EXPECT_FALSE(holds<long>(error));
  EXPECT_FALSE(holds<std::exception>(error));
}

TEST(ExceptionPtrCast, FindsWhatWasCaughtAndRethrown) {
  const auto first = std::make_exception_ptr(InputOutputError("read", ENOENT));
  std::exception_ptr second;
  try {
    std::rethrow_exception(first);
  } catch (...) {
    second = std::current_exception();
  }
  const auto* const found = exception_ptr_cast<InputOutputError>(second);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->code(), ENOENT);
  EXPECT_TRUE(holds<backend::Chained>(second));
}

}  // namespace
}  // namespace fermata
