// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/postgresql_tap.hpp"

#include <optional>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/sim/db/postgresql_statement.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim::postgresql {

namespace {

wire::Frame frame_of(wire::Writer& writer) {
  writer.end();
  wire::Assembler assembler;
  assembler.add(writer.take());
  std::optional<wire::Frame> frame = assembler.next();
  FERMATA_ASSERT(frame && assembler.empty());
  return std::move(*frame);
}

}  // namespace

void Tap::tell_asked(wire::Writer& frame) const {
  if (tap_ != nullptr) tap_->asked(client_, frame_of(frame));
}

void Tap::tell_answered(wire::Writer& frame) const {
  if (tap_ != nullptr) tap_->answered(client_, frame_of(frame));
}

void Tap::greeted(std::string_view user, std::string_view database) const {
  wire::Writer frame;
  tell_asked(frame.begin(wire::Kind::Startup).text(user).text("").text(database));
}

void Tap::let_in(sql::SessionId session, std::uint64_t secret) const {
  wire::Writer frame;
  tell_answered(frame.begin(wire::Kind::Ready).u64(session).u64(secret));
}

void Tap::asked_to_stop(sql::SessionId session, std::uint64_t secret) const {
  wire::Writer frame;
  tell_asked(frame.begin(wire::Kind::Cancel).u64(session).u64(secret));
}

void Tap::asked(std::string_view sql) {
  if (commands_in(sql).empty()) return;
  asked_ = true;
  wire::Writer frame;
  if (sql == "DISCARD ALL") return tell_asked(frame.begin(wire::Kind::Reset));
  tell_asked(frame.begin(wire::Kind::Execute).text(sql).cells({}).u32(0));
}

void Tap::asked_to_prepare(std::string_view sql) {
  asked_ = true;
  wire::Writer frame;
  tell_asked(frame.begin(wire::Kind::Prepare).u32(0).text(sql));
}

void Tap::asked_for_prepared() {
  asked_ = true;
  wire::Writer frame;
  tell_asked(frame.begin(wire::Kind::ExecutePrepared).u32(0).cells({}).u32(0));
}

void Tap::refused(bool farewell, std::string_view sqlstate, std::string_view why,
                  db::TransactionState state) {
  asked_ = false;
  wire::Writer frame;
  frame.begin(wire::Kind::Error).u8(farewell ? 1 : 0).text(sqlstate).text(why);
  tell_answered(frame.u8(static_cast<std::uint8_t>(state)));
}

void Tap::done(db::TransactionState state) {
  if (!std::exchange(asked_, false)) return;
  wire::Writer frame;
  tell_answered(frame.begin(wire::Kind::Done).u64(0).u8(static_cast<std::uint8_t>(state)));
}

}  // namespace fermata::sim::postgresql
