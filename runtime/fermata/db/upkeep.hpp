// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is done with a connection while nobody has it.

#include "fermata/db/pooled.hpp"

namespace fermata::db::detail {

struct Template;

/// A new connection with all attributes.
[[nodiscard]] Pooled make_connection(Template& made_of);
/// Whether one that was idle may be used again: its other side is there, as far as is known, and
/// its attributes are the latest ones (DB-18).
[[nodiscard]] bool before_acquire(const Template& made_of, Pooled& pooled);
/// Whether one that comes back is clean now: nothing runs, no transaction is open, and its session
/// is as new (DB-05, DB-06, DB-11, DB-13).
[[nodiscard]] bool before_release(Template& made_of, Pooled& pooled);
/// Whether an idle one is to stay, `count` of them being there.
[[nodiscard]] bool may_stay(const Template& made_of, Pooled& pooled, std::size_t count);
/// How often idle ones are looked at; zero for never.
[[nodiscard]] Duration upkeep_interval(const Template& made_of);

}  // namespace fermata::db::detail
