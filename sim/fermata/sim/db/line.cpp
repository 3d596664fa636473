// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/db/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>

#include "fermata/core/suspend.hpp"
#include "fermata/db/errors.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::sim::detail {

namespace {

using db::TransactionState;
using db::sqlstate::kConnectionLost;
using wire::Kind;

/// From a server that lives something comes more often: its answer, or that it is still at it.
constexpr Duration kSilenceMax = std::chrono::seconds(20);

Duration time_until(Instant deadline) {
  return std::clamp(deadline - now(), Duration::zero(), kSilenceMax);
}

}  // namespace

void Line::break_off() noexcept {
  broken_ = true;
  stream_.close();
}

void Line::lose(std::string_view sqlstate, std::string_view why) {
  break_off();
  loss_ = why;
  throw db::ConnectionLost(database_, sqlstate, why);
}

void Line::send(wire::Writer& frames, Instant deadline) {
  if (broken_) lose(kConnectionLost, "the connection was lost before");
  try {
    stream_.write(frames.take(), {.timeout = time_until(deadline)});
  } catch (const InputOutputError& error) {
    lose(kConnectionLost, error.what());
  } catch (const Timeout&) {
    lose(kConnectionLost, "the server does not read what is sent");
  }
}

wire::Frame Line::receive(Instant deadline) {
  while (true) {
    try {
      while (std::optional<wire::Frame> frame = input_.next()) {
        if (frame->kind != Kind::StillRunning) return std::move(*frame);
      }
      if (broken_) lose(kConnectionLost, "the connection was lost before");
      if (now() >= deadline) lose(kConnectionLost, "the server does not end its answer");
      const std::size_t size = stream_.read(buffer_, {.timeout = time_until(deadline)});
      if (size == 0) lose(kConnectionLost, "the server has closed the connection");
      input_.add(std::span(buffer_).first(size));
    } catch (const wire::WireError& error) {
      lose(db::sqlstate::kProtocolViolation, error.what());
    } catch (const InputOutputError& error) {
      lose(kConnectionLost, error.what());
    } catch (const Timeout&) {
      lose(kConnectionLost, "the server is silent");
    }
  }
}

void Line::read_state(wire::Reader& fields) {
  const std::uint8_t state = fields.u8();
  fields.end();
  if (state > static_cast<std::uint8_t>(TransactionState::Unknown)) {
    throw wire::WireError(fmt::format("a transaction in state {}", state));
  }
  state_ = static_cast<TransactionState>(state);
}

std::uint64_t Line::read_done(wire::Reader& fields) {
  const std::uint64_t affected_rows = fields.u64();
  read_state(fields);
  --unanswered;
  return affected_rows;
}

void Line::read_error(wire::Reader& fields) {
  const bool farewell = fields.u8() != 0;
  const std::string_view sqlstate = fields.text();
  const std::string_view message = fields.text();
  read_state(fields);
  if (farewell) lose(sqlstate, message);
  --unanswered;
  throw db::QueryError(database_, sqlstate, message);
}

void Line::unexpected(const wire::Frame& frame) {
  wire::Reader fields(frame.fields);
  if (frame.kind == Kind::Error) read_error(fields);
  lose(db::sqlstate::kProtocolViolation,
       fmt::format("an unexpected frame of kind {}", static_cast<unsigned>(frame.kind)));
}

bool Line::is_alive() noexcept {
  if (broken_) return false;
  try {
    backend::ReadRequest look(stream_.handle(), buffer_);
    if (!look.is_completed()) return unanswered > 0 || input_.empty();
    if (look.error() != nullptr) return false;
    const std::size_t size = look.take();
    input_.add(std::span(buffer_).first(size));
    return size > 0 && unanswered > 0;
  } catch (...) {
    return false;
  }
}

}  // namespace fermata::sim::detail
