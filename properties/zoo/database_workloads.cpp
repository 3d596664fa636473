// SPDX-License-Identifier: Apache-2.0

// Databases (Z-DB): scripts of the law over databases, small enough for one bug each.

#include <initializer_list>

#include "properties/scripts/law.hpp"
#include "properties/subjects/databases.hpp"
#include "properties/zoo/workload.hpp"

namespace fermata::properties::zoo {
namespace {

constexpr Step common(Common what, std::uint8_t number) { return {what, 0, number}; }
/// A nap of `span` milliseconds.
constexpr Step nap(std::uint8_t span) { return common(Common::Nap, span); }
constexpr Step cancel(std::uint8_t actor) { return common(Common::Cancel, actor); }
/// An operation of the law, by its place in the list. Who is cancelled in it ends if `number` is
/// odd.
constexpr Step step(std::uint8_t operation, std::uint8_t number) {
  return {kCommonCount + operation, 0, number};
}

constexpr std::uint8_t kAsk = 0;
constexpr std::uint8_t kBeginOrEnd = 2;
constexpr std::uint8_t kPrepare = 5;
constexpr std::uint8_t kDrop = 7;

/// `connections` at most, each answer on its way for up to two milliseconds.
void play(sim::World& world, std::uint8_t connections,
          std::initializer_list<std::vector<Step>> actors) {
  const Script script{{static_cast<std::uint8_t>(connections - 1), 0, 3, 0}, actors};
  properties::play(script, database_subject(), world);
}

FERMATA_WORKLOAD(transaction_left_by_sql, "Z-DB-01", 2, "ISO", "LIN", "DB-05") {
  play(world, 1,
       {{step(kBeginOrEnd, 1), nap(3), step(kBeginOrEnd, 1)},
        {nap(4), cancel(0)},
        {nap(15), step(kAsk, 0)}});
}

FERMATA_WORKLOAD(cancelled_at_the_answer, "Z-DB-02", 2, "ISO", "VAL", "DB-11") {
  play(world, 1, {{step(kAsk, 1)}, {nap(2), cancel(0)}, {nap(15), step(kAsk, 0)}});
}

FERMATA_WORKLOAD(statement_dropped_in_a_transaction, "Z-DB-04", 2, "CAP", "ISO", "DB-04") {
  play(world, 2,
       {{step(kPrepare, 0), step(kBeginOrEnd, 0), nap(2), step(kAsk, 0), step(kBeginOrEnd, 0)},
        {nap(6), step(kDrop, 0)}});
}

FERMATA_WORKLOAD(cancelled_and_put_in_order, "Z-DB-07", 2, "COST", "DB-11") {
  play(world, 1, {{step(kAsk, 1)}, {nap(2), cancel(0)}, {nap(15), step(kAsk, 0)}});
}

FERMATA_WORKLOAD(stopped_too_late, "Z-DB-06", 2, "ISO", "DB-11") {
  const Script script{{0, 0, 3, 0},
                      {{step(kAsk, 1)},
                       {nap(4), cancel(0)},
                       {nap(5), step(kAsk, 0), step(kAsk, 0), step(kAsk, 0), step(kAsk, 0)}}};
  properties::play(script, wired_database_subject(), world);
}

FERMATA_WORKLOAD(cancelled_while_connecting, "Z-DB-05", 1, "REF", "CAP", "WAKE", "DB-06") {
  play(world, 1,
       {{step(kAsk, 1)}, {common(Common::Pause, 0), cancel(0)}, {nap(15), step(kAsk, 0)}});
}

}  // namespace

}  // namespace fermata::properties::zoo
