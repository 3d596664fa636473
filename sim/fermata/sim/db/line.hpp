// SPDX-License-Identifier: Apache-2.0
#pragma once

// The client's side of a connection to the simulated database: frames out, frames in, and what is
// known of the session.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/base/time.hpp"
#include "fermata/db/driver.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sim/db/wire.hpp"

namespace fermata::sim::detail {

class Line {
 public:
  /// `database` is what errors call it.
  Line(std::string database, TcpStream stream)
      : database_(std::move(database)), stream_(std::move(stream)) {}

  /// Both throw db::ConnectionLost, after which the line is broken: also when the server is silent,
  /// or does not come to an end before `deadline`.
  void send(wire::Writer& frames, Instant deadline = Instant::never());
  /// The next frame that says something. One that is interrupted loses nothing.
  [[nodiscard]] wire::Frame receive(Instant deadline = Instant::never());

  /// These read the end of an answer. They set the state of the session, and throw what the server
  /// says: db::QueryError, or db::ConnectionLost when it closes the connection.
  [[nodiscard]] std::uint64_t read_done(wire::Reader& fields);
  [[noreturn]] void read_error(wire::Reader& fields);
  void read_state(wire::Reader& fields);
  /// For a frame that cannot come here. As read_error, when it says an error.
  [[noreturn]] void unexpected(const wire::Frame& frame);

  /// Nobody can tell any more what the server will say.
  void break_off() noexcept;
  [[noreturn]] void lose(std::string_view sqlstate, std::string_view why);

  [[nodiscard]] bool is_broken() const noexcept { return broken_; }
  [[nodiscard]] db::TransactionState transaction() const noexcept {
    return broken_ ? db::TransactionState::Unknown : state_;
  }
  /// Looks without waiting.
  [[nodiscard]] bool is_alive() noexcept;
  [[nodiscard]] Address peer() const { return stream_.peer_address(); }
  [[nodiscard]] const std::string& database() const noexcept { return database_; }
  /// Why it was lost.
  [[nodiscard]] const std::string& loss() const noexcept { return loss_; }

  /// Requests whose answer has not been read to its end.
  std::size_t unanswered = 0;
  /// Prepared commands that the server need not know any more.
  std::vector<std::uint32_t> forgotten;
  std::uint64_t session = 0;
  std::uint64_t secret = 0;
  std::uint32_t prepared_made = 0;
  std::uint32_t marks_made = 0;

 private:
  std::string database_;
  std::string loss_;
  TcpStream stream_;
  wire::Assembler input_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(std::size_t{16} << 10);
  db::TransactionState state_ = db::TransactionState::None;
  bool broken_ = false;
};

}  // namespace fermata::sim::detail
