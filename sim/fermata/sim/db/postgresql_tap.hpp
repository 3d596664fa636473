// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "fermata/sim/db/engine.hpp"
#include "fermata/sim/db/tap.hpp"

namespace fermata::sim::wire {
class Writer;
}

namespace fermata::sim::postgresql {

/// Tells a DatabaseTap what a client of PostgreSQL's protocol and the server say to each other, as
/// if it were in the frames of the simulated database: commands without their parameters, and
/// answers without their rows. A command without a word is not told.
class Tap {
 public:
  /// Without `tap` nobody is told.
  Tap(DatabaseTap* tap, std::uint64_t client) noexcept : tap_(tap), client_(client) {}

  void greeted(std::string_view user, std::string_view database) const;
  void let_in(sql::SessionId session, std::uint64_t secret) const;
  void asked_to_stop(sql::SessionId session, std::uint64_t secret) const;
  void asked(std::string_view sql);
  void asked_to_prepare(std::string_view sql);
  void asked_for_prepared();
  void refused(bool farewell, std::string_view sqlstate, std::string_view why,
               db::TransactionState state);
  /// The command is over. It has not been refused, unless that was told.
  void done(db::TransactionState state);

 private:
  void tell_asked(wire::Writer& frame) const;
  void tell_answered(wire::Writer& frame) const;

  DatabaseTap* tap_;
  std::uint64_t client_;
  bool asked_ = false;  // What was not answered yet.
};

}  // namespace fermata::sim::postgresql
