// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a connection calls, and what it may do.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "fermata/base/time.hpp"
#include "fermata/loop/tcp/failure.hpp"
#include "fermata/loop/tcp/framing.hpp"
#include "fermata/loop/tcp/heartbeat.hpp"
#include "fermata/loop/tcp/send_queue.hpp"

namespace fermata::loop {

class TcpConnection;

/// Called from the loop, never from inside a method of the connection; each may be empty. One that
/// suspends holds back the next of on_connect, on_message and on_end, but not the others.
struct TcpHandlers {
  using Event = std::function<void(TcpConnection&)>;

  /// Called first, unless there is no connection.
  Event on_connect;
  /// Called for each message, which is valid until this returns or until others receive on the
  /// connection.
  std::function<void(TcpConnection&, std::string_view)> on_message;
  /// Called when the peer has ended its sending; only with `allow_half_open`.
  Event on_end;
  std::function<void(TcpConnection&, const TcpFailure&)> on_error;
  /// Called last, once; the socket is closed. All handlers are dropped when it has returned.
  Event on_close;
  /// Called when the send queue has reached the high mark; once until on_drain.
  Event on_full;
  /// Called when the queue has fallen to the low mark.
  Event on_drain;
  /// Called when the queue is empty again. Not after close().
  Event on_flushed;
};

/// Where exceptions of handlers go. A Cancellation always goes to the loop: it may be the end of
/// the coroutine that calls back.
enum class HandlerErrors : std::uint8_t {
  EndConnection,  // its on_error is told and it is destroyed; without on_error the loop is told too
  ToLoop,         // as what other callbacks of the loop throw; the connection goes on
};

struct TcpOptions {
  /// Makes the framing of each connection; null: messages are the bytes as they come.
  std::function<FramingPtr()> framing;
  /// The longest frame, in bytes; a longer one breaks the connection before room is made for it.
  std::size_t package_max = std::size_t{10} << 20;
  WaterMarks marks;
  /// Bytes that one read asks for.
  std::size_t read_chunk = 65'536;
  /// Bytes that are read in one tick before others have their turn.
  std::size_t read_budget = 262'144;
  /// How long close() flushes the queue at most.
  Duration flush_deadline = std::chrono::seconds(10);
  /// How long close() then waits for the peer's end of stream, and drops what still comes. A socket
  /// that closes earlier is reset by the peer's next byte, and the peer loses what the system has
  /// not delivered yet. Zero: it does not wait.
  Duration linger_deadline = std::chrono::seconds(5);
  /// Whether the peer's end of stream calls on_end, and sending goes on. Otherwise it acts like
  /// close().
  bool allow_half_open = false;
  HandlerErrors handler_errors = HandlerErrors::EndConnection;
  bool no_delay = true;
  /// The interval of TCP keep-alive, as for TcpStream::set_keep_alive; nothing switches it off.
  std::optional<Duration> keep_alive = std::chrono::seconds(55);
  HeartbeatOptions heartbeat;

  /// Throws UsageError naming what is out of range.
  void check() const;
};

struct TcpClientOptions : TcpOptions {
  Duration connect_timeout = std::chrono::seconds(10);

  void check() const;
};

}  // namespace fermata::loop
