// SPDX-License-Identifier: Apache-2.0
#pragma once

// Accepts connections and looks after them until they are closed.
//
// Ownership  A value that stays where it is, inside the life of its loop. Its end closes the
//            listener and, without calling back, all connections.
// Shortage   Without descriptors accepting pauses and is tried again after
//            ListenerHandle::kRetryDelay; it never spins.
// Errors     An on_connect that throws ends its connection, not the server (TcpOptions).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "fermata/loop/tcp/connection.hpp"
#include "fermata/reactor/listener.hpp"

namespace fermata::loop {

struct TcpServerOptions {
  /// accepts_per_turn is the server's budget, too.
  ListenOptions listen;
  TcpOptions connection;
  /// Told of accepts that fail for another reason than a shortage or a peer that has gone.
  std::function<void(int code)> on_accept_error;
};

struct TcpServerCounters {
  std::uint64_t accepted = 0;
  std::uint64_t closed = 0;
  std::uint64_t accept_errors = 0;
  /// The traffic of the connections that are closed.
  TcpCounters traffic;
};

class TcpServer final : private detail::TcpOwner {
 public:
  /// Listens at `address`; port 0 lets the system choose. Connections call `handlers`. Throws
  /// InputOutputError, for instance when the port is in use, and UsageError.
  TcpServer(Loop& loop, const Address& address, TcpHandlers handlers, TcpServerOptions options = {},
            SourcePlace place = SourcePlace::current());
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;
  ~TcpServer();

  [[nodiscard]] const Address& local_address() const noexcept { return local_; }
  [[nodiscard]] bool is_listening() const noexcept { return static_cast<bool>(listener_); }

  /// Stops accepting connections. Clients that connect meanwhile wait, as many as the backlog
  /// allows. Idempotent.
  void pause_accept();
  void resume_accept();

  /// Listens no more. Idle connections are closed now, busy ones when they become idle: nothing to
  /// send, no part of a message received, no handler suspended, not set_busy. After `deadline` the
  /// rest is destroyed. `on_stopped` is called when none is left; a later stop() replaces both.
  void stop(TimeSpan deadline, Task on_stopped = {});

  /// The open and the closing ones as they are now, by age. Sending to one may end it.
  [[nodiscard]] std::vector<TcpConnectionPtr> connections() const;
  [[nodiscard]] std::size_t connection_count() const noexcept { return connections_.size(); }
  [[nodiscard]] const TcpServerCounters& counters() const noexcept { return counters_; }
  [[nodiscard]] Loop& loop() const noexcept { return loop_; }

 private:
  void accept();
  void take();
  void unlisten();
  void finish_stop();
  void connection_closed(TcpConnection& connection) noexcept override;

  Loop& loop_;
  std::shared_ptr<const TcpHandlers> handlers_;
  std::shared_ptr<const TcpOptions> connection_options_;
  TcpServerOptions options_;
  SourcePlace place_;
  Address local_;
  std::map<std::uint64_t, TcpConnectionPtr> connections_;
  TcpServerCounters counters_;
  Ref<backend::ListenerHandle> listener_;
  CallbackId notice_ = 0;
  CallbackId stop_timer_ = 0;
  Task on_stopped_;
  bool paused_ = false;
  bool stopping_ = false;
  detail::Notifier accepted_;
  std::optional<backend::AcceptRequest> request_;
};

}  // namespace fermata::loop
