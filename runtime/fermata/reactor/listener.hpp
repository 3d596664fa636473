// SPDX-License-Identifier: Apache-2.0
#pragma once

// Connections that come in, and those who wait for them.
//
// Order         Both FIFO. A connection is promised to the acceptor that it completed; one that
//               leaves without taking it passes it on to the next (LIS-01 to 03).
// Backpressure  Connections that nobody waits for are queued up to `backlog`; then accepting
//               pauses.
// Shortage      Out of descriptors or memory: accepting pauses and is tried again after a delay;
//               transient errors of a single connection are skipped; any other error goes to the
//               next acceptor and the listener stays open.

#include <cstddef>
#include <deque>

#include "fermata/core/timer.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata {

namespace backend {
class ListenerHandle;
}  // namespace backend

struct ListenOptions {
  /// Connections that wait in the kernel, and as many again in the listener.
  int backlog = 511;
  /// Connections that one turn accepts before other I/O has its own; at least 1.
  int accepts_per_turn = 64;
  /// Several listeners may share the port.
  bool reuse_port = false;
};

namespace backend {

/// Waits for the next connection.
class AcceptRequest final : public Request {
 public:
  explicit AcceptRequest(ListenerHandle& listener);
  ~AcceptRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// The connection, once completed without an error. What is not taken goes to the next acceptor.
  [[nodiscard]] Ref<StreamHandle> take() noexcept { return std::move(connection_); }
  /// Its error has reached somebody; else it goes to the next acceptor.
  void mark_error_told() noexcept { refused_for_ = 0; }

 private:
  friend class ListenerHandle;

  void refuse(int code) noexcept;

  Ref<ListenerHandle> listener_;
  Ref<StreamHandle> connection_;
  int refused_for_ = 0;  // The code of an error that nobody has been told yet.
  detail::Link<AcceptRequest> link_;

 public:
  using List = detail::IntrusiveList<AcceptRequest, &AcceptRequest::link_>;
};

class ListenerHandle : public Handle {
 public:
  /// How long accepting pauses when descriptors or memory run out.
  static constexpr Duration kRetryDelay = std::chrono::milliseconds(100);

  /// With the port that the kernel chose; 0.0.0.0:0 where there is none.
  [[nodiscard]] virtual Address local_address() const { return {}; }
  /// Whether an accept would end at once: with a connection, or with an error.
  [[nodiscard]] bool answers_at_once() const noexcept {
    return is_closed() || !connections_.empty() || pending_code_ != 0;
  }

 protected:
  ListenerHandle(detail::Attachment& attachment, const ListenOptions& options);
  ~ListenerHandle() override = default;

  // --- hooks ---

  /// From now on accepted() or accept_failed() is called for each connection. A new listener is
  /// paused; resume_accepting() throws InputOutputError when the backend refuses.
  virtual void resume_accepting() = 0;
  virtual void pause_accepting() noexcept = 0;

  // --- for the backend ---

  void accepted(Ref<StreamHandle> connection);
  void accept_failed(int code);
  /// Whether another connection may be accepted now.
  [[nodiscard]] bool is_accepting() const noexcept { return accepting_; }

 private:
  friend class AcceptRequest;
  friend class Streams;

  void accept(AcceptRequest& request);
  void refuse_next(int code) noexcept;
  void give_back(Ref<StreamHandle> connection);
  void update_accepting();
  void fail_parked() override;

  std::size_t backlog_;
  AcceptRequest::List acceptors_;
  std::deque<Ref<StreamHandle>> connections_;
  Timer retry_;
  Subscription on_retry_;
  int pending_code_ = 0;  // An error that nobody has been given yet.
  bool accepting_ = false;
  bool retrying_ = false;
};

}  // namespace backend

}  // namespace fermata
