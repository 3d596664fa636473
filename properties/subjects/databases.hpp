// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "properties/scripts/law.hpp"

namespace fermata::properties {

/// A database that the actors of a script share. Shape: connections at most, less one; what they
/// do about broken ones; how long an answer takes; what is checked before a lease.
[[nodiscard]] SubjectKind database_subject();

/// A database on a server, behind its driver and a network. Shape: connections at most, less one;
/// whether the server crashes; how long it takes; what is checked before a lease.
[[nodiscard]] SubjectKind wired_database_subject();

}  // namespace fermata::properties
