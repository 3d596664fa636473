// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which invariants a run has checked. FERMATA_CHECKS("CORE-CB-01", ...) in the body of a test
// claims that the rest of its block asserts these rules. The claim holds as soon as an assertion of
// the same file is executed (EXPECT_EQ, ASSERT_THROW, ... on whatever thread or coroutine); what
// fixtures of other files assert is about something else. Checkers that are not assertions, such as
// a law or a recount, call note_checked() for each rule they have checked.
//
// With FERMATA_CHECKS_OUT naming a folder, each process appends lines of id, test and count to a
// file of its own there: the first time at once, and the other times when it exits. A claim that
// never held is a line with the place of the claim and the count 0, which
// tests/invariants_check.py complains about. Without it nothing is noted. Threads: any.

#include <initializer_list>
#include <string_view>
#include <vector>

namespace fermata::testing {

/// Notes that the invariant `id`, as spelt in tests/invariants.tsv, has just been checked.
void note_checked(std::string_view id);

/// What an assertion in `file` calls as it is executed. Returns 0.
int note_assertion(const char* file) noexcept;

/// The claim that a block of a test asserts some invariants.
class Claim final {
 public:
  Claim(const char* file, int line, std::initializer_list<const char*> ids);
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim();

 private:
  friend int note_assertion(const char* file) noexcept;

  const char* file_;
  int line_;
  std::vector<const char*> ids_;
  bool holds_ = false;
};

}  // namespace fermata::testing

#define FERMATA_CHECKS_NAME_OF(line) fermata_claim_##line
#define FERMATA_CHECKS_NAME(line) FERMATA_CHECKS_NAME_OF(line)
#define FERMATA_CHECKS(...) \
  const ::fermata::testing::Claim FERMATA_CHECKS_NAME(__LINE__)(__FILE__, __LINE__, {__VA_ARGS__})
