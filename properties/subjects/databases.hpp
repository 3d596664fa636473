// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>

#include "fermata/db/driver.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {

/// A database that the actors of a script share. Shape: connections at most, less one; what they
/// do about broken ones; how long an answer takes; what is checked before a lease.
[[nodiscard]] SubjectKind database_subject();

/// A database on a server, behind its driver and a network. Shape: connections at most, less one;
/// whether the server crashes; how long it takes; what is checked before a lease.
[[nodiscard]] SubjectKind wired_database_subject();

/// A wired database behind another driver, which finds the server's database by `url`, and stops
/// what is left of a stream; for kinds of subjects with wired_database_subject().operations.
[[nodiscard]] std::unique_ptr<Subject> make_wired_database(Stage& stage,
                                                           std::unique_ptr<db::Driver> driver,
                                                           std::string_view url);

}  // namespace fermata::properties
