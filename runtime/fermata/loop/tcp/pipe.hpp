// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one connection receives, another one sends.

#include <memory>
#include <string_view>

#include "fermata/loop/tcp/connection.hpp"

namespace fermata::loop {

struct TcpPipeOptions {
  /// Closing one end closes the other, the destination after it has flushed. Else the pipe stops,
  /// and what the other end does is its own affair.
  bool close_other = true;
};

/// While it lives, each message of `source` is sent on `destination`, encoded as that one's framing
/// does; `source` does not call on_message and on_end meanwhile, all other handlers stay. `source`
/// is paused while `destination` is full. Several may lead to one destination; two, to and fro,
/// join two connections. The peer's end of a source that allows half-open ends the destination's
/// sending. Needs no memory of the connections' own: its end puts everything back as it was.
class TcpPipe final : private detail::TcpLink {
 public:
  /// Throws UsageError when an end is closed or closing, and when `source` leads elsewhere already.
  TcpPipe(TcpConnection& source, TcpConnection& destination, TcpPipeOptions options = {});
  TcpPipe(const TcpPipe&) = delete;
  TcpPipe& operator=(const TcpPipe&) = delete;
  ~TcpPipe() { stop(); }

  /// Takes the pipe away, as its destructor does. Idempotent.
  void stop();
  /// Until it is stopped, or an end closes.
  [[nodiscard]] bool is_active() const noexcept { return source_ != nullptr; }

 private:
  void message(std::string_view message) override;
  void ended() override { destination_->shutdown_write(); }
  void filled() override { source_->pause_for_link(true); }
  void drained() override { source_->pause_for_link(false); }
  void closed(TcpConnection& connection) override;

  TcpConnectionPtr source_;
  TcpConnectionPtr destination_;
  TcpPipeOptions options_;
};

}  // namespace fermata::loop
