// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which invariants a run has checked. FERMATA_CHECKS("CORE-CB-01", ...) in the body of a test or
// law says "what follows asserts these rules"; the ids are noted each time the line is executed, so
// that `./dev test` can tell a rule that was checked from one that is only mentioned, by which
// test, and how often.
//
// With FERMATA_CHECKS_OUT naming a folder, each process appends lines of id, test and count to a
// file of its own there: the first time at once, so that a test that crashes later has still been
// counted, and the other times when it exits. Without it the macro does nothing. Threads: any.

#include <initializer_list>

namespace fermata::testing {

/// Notes that the invariants `ids`, as spelt in tests/invariants.tsv, are being checked.
void note_checks(std::initializer_list<const char*> ids);

}  // namespace fermata::testing

#define FERMATA_CHECKS(...) ::fermata::testing::note_checks({__VA_ARGS__})
