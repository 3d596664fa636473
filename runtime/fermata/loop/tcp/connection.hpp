// SPDX-License-Identifier: Apache-2.0
#pragma once

// A TCP connection in callback style, on whatever reactor the runtime has.
//
// States       Connecting (clients only) -> Established -> Closing (what is queued goes out, then
// the
//              peer ends) -> Closed. A client's closed connection may begin anew: reconnect().
// Ownership    Lives on its own from connect() or accept to its on_close, or to the end of the
//              loop, which closes it without a word; the program's pointers keep only the object.
// After the    The loop's end also ends a reconnection that waits, and an on_close that was not
// loop         called yet. Every method but loop() may be called then; nothing begins any more.
// Callbacks    See TcpHandlers. on_error comes before on_close, on_connect never after it.
// Order        Messages go out in the order of send(), and come in in the order of the peer.
// Suspension   Nothing here suspends.
// Source       Section 4 of the specification of the event loop.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/source_place.hpp"
#include "fermata/loop/loop.hpp"
#include "fermata/loop/member.hpp"
#include "fermata/loop/tcp/link.hpp"
#include "fermata/loop/tcp/notifier.hpp"
#include "fermata/loop/tcp/options.hpp"
#include "fermata/loop/tcp/receive_buffer.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata::loop {

class TcpConnection;
using TcpConnectionPtr = std::shared_ptr<TcpConnection>;

enum class TcpState : std::uint8_t {
  Initial = 0,
  Connecting = 1,
  Established = 2,
  Closing = 4,
  Closed = 8
};
/// "initial", "connecting", ...
[[nodiscard]] const char* to_string(TcpState state) noexcept;

enum class SendResult : std::uint8_t {
  Sent,           // the system has everything
  Queued,         // it will go out, behind what was queued before
  RefusedClosed,  // the connection does not send any more
  RefusedFull,    // the send queue is at its high mark; on_error is told, too
  Failed,         // the peer is gone: on_error and on_close follow
};

/// Traffic since the connection was made, over all its reconnections.
struct TcpCounters {
  std::uint64_t bytes_received = 0;
  std::uint64_t bytes_sent = 0;  // What the system has taken.
  std::uint64_t messages_received = 0;
  std::uint64_t messages_sent = 0;  // Sent or queued.
  std::uint64_t messages_refused = 0;
  std::uint64_t pings = 0;
  std::uint64_t times_full = 0;

  TcpCounters& operator+=(const TcpCounters& other) noexcept;
};

class TcpConnection final : public std::enable_shared_from_this<TcpConnection>,
                            private detail::Member {
  struct Private {};

 public:
  /// Connects; errors of that are told to on_error, then on_close. What is sent meanwhile goes out
  /// when the connection stands. Throws UsageError for options out of range, and Unsupported.
  static TcpConnectionPtr connect(Loop& loop, const Address& peer, TcpHandlers handlers,
                                  TcpClientOptions options = {},
                                  SourcePlace place = SourcePlace::current());

  TcpConnection(Private, Loop& loop, std::shared_ptr<const TcpHandlers> handlers,
                std::shared_ptr<const TcpOptions> options, SourcePlace place);
  ~TcpConnection();

  // --- sending ---

  /// A whole message, as the framing encodes it. Throws what encode() throws, and UsageError for
  /// more than kTransferMax bytes; nothing is sent then.
  SendResult send(std::string_view message);
  /// Bytes as they are, past the framing.
  SendResult send_raw(std::string_view bytes);
  /// No more after what is queued: the peer sees the end of the stream. Later sends are refused.
  void shutdown_write();
  /// Bytes of send() that the system has not taken.
  [[nodiscard]] std::size_t queued() const noexcept { return queue_.size(); }
  [[nodiscard]] bool is_full() const noexcept { return queue_.is_full(); }
  /// Throws UsageError unless `low` is below `high`.
  void set_marks(const WaterMarks& marks);

  // --- receiving ---

  /// No message until resume_receiving(). What the peer does, its end too, is not noticed
  /// meanwhile, but for what a write or the heartbeat notices. Both are idempotent and do nothing
  /// on a connection that closes.
  void pause_receiving();
  /// Never calls back at once.
  void resume_receiving();
  [[nodiscard]] bool is_paused() const noexcept { return paused_by_user_ || paused_by_link_; }

  // --- ending ---

  /// Sends `last`, if any, lets the queue go out, waits for the peer's end of stream and then
  /// destroys. It destroys at the flush deadline too, which on_error is told, and at the linger
  /// deadline. What the peer sends is dropped. While connecting it destroys.
  void close(std::optional<std::string_view> last = std::nullopt);
  /// Ends now; what is queued is lost. on_close follows. Idempotent.
  void destroy();
  /// Ends now without calling any handler: for an owner of what the handlers use, at its end.
  void abandon();
  /// Connects a client again `after` that time. REQUIRES: it is closed and its on_close has not
  /// returned. Handlers, options and counters stay, all else begins anew. A second call replaces
  /// the first. Throws UsageError, also when the loop has ended.
  void reconnect(TimeSpan after);
  /// Whether there was a reconnection to cancel. Not from on_close, the handlers are dropped then.
  bool cancel_reconnect();

  // --- queries: in every state ---

  [[nodiscard]] TcpState state() const noexcept { return state_; }
  /// Positive, never reused in this program's loop.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const Address& local_address() const noexcept { return local_; }
  [[nodiscard]] const Address& peer_address() const noexcept { return peer_; }
  [[nodiscard]] const TcpCounters& counters() const noexcept { return counters_; }
  /// When the last byte came; of a new connection, when it was established.
  [[nodiscard]] Instant last_received() const noexcept { return received_at_; }
  /// When the system last took a byte.
  [[nodiscard]] Instant last_sent() const noexcept { return sent_at_; }
  /// REQUIRES: the loop has not ended. Throws UsageError when that has closed this connection.
  [[nodiscard]] Loop& loop() const {
    FERMATA_REQUIRE(!loop_ended_, "loop: the event loop has ended");
    return loop_;
  }

  /// A graceful stop of the server waits for a busy connection.
  void set_busy(bool busy);
  [[nodiscard]] bool is_idle() const noexcept;

  // --- for servers and pipes ---

  /// A connection that stands. `owner` may be null.
  static TcpConnectionPtr adopt(Loop& loop, Ref<backend::StreamHandle> stream,
                                std::shared_ptr<const TcpHandlers> handlers,
                                std::shared_ptr<const TcpOptions> options, detail::TcpOwner* owner,
                                SourcePlace place);
  /// Closes as soon as it is idle.
  void drain();

  /// Messages go to `link` instead of on_message. Throws UsageError when there is one already.
  void set_sink(detail::TcpLink* link);
  void watch(detail::TcpLink& link);
  void unwatch(detail::TcpLink& link) noexcept;
  void pause_for_link(bool paused);

 private:
  template <void (TcpConnection::*Completed)()>
  class Done final : public backend::Callback {
   public:
    explicit Done(TcpConnection& connection) noexcept : connection_(connection) {}
    void run(Event&, const Outcome&) override { (connection_.*Completed)(); }

   private:
    void destroy() noexcept override {}

    TcpConnection& connection_;
  };

  // connection.cpp
  void enter_loop();
  void serve();
  void settle();
  void announce(TcpHandlers::Event TcpHandlers::*handler);
  void guarded(Task call);
  [[nodiscard]] static bool is_end_of_coroutine(const std::exception_ptr& error) noexcept;
  void fail_framing();
  void call(TcpHandlers::Event TcpHandlers::*handler);
  void set_paused(bool& flag, bool paused);
  void release_if_over() noexcept;
  [[nodiscard]] bool is_deaf() const noexcept;
  [[nodiscard]] Instant now() const;

  // connection_open.cpp
  void begin_connecting();
  void finish_connecting();
  void establish(Ref<backend::StreamHandle> stream);
  void begin_again();
  void beat();

  // connection_receive.cpp
  void receive();
  void deliver();
  bool find_frame();
  bool take_read(std::size_t& budget);
  void ended();

  // connection_linger.cpp
  void linger();
  [[nodiscard]] std::span<std::byte> drop_target();
  void look_again();

  // connection_send.cpp
  SendResult enqueue(std::string_view bytes);
  void submit();
  void write_completed();
  void finish_write();
  bool wrote(std::exception_ptr error);
  void told(SendQueue::Edge edge);

  // connection_end.cpp
  void fail(TcpFailureKind kind, int code, std::string detail, std::exception_ptr error = nullptr);
  void fail(TcpFailureKind kind, std::exception_ptr error);
  void let_go() noexcept;
  void detach() noexcept;
  void leave_loop() noexcept;
  void loop_ended() noexcept override;
  void tell_close();
  void tell_links_closed();
  void report(TcpFailure failure);
  void cancel_timer(CallbackId& timer) noexcept;

  Loop& loop_;
  std::shared_ptr<const TcpHandlers> handlers_;
  std::shared_ptr<const TcpOptions> options_;
  SourcePlace place_;
  std::uint64_t id_;
  std::optional<Address> connects_to_;
  detail::TcpOwner* owner_ = nullptr;

  TcpState state_ = TcpState::Initial;
  bool in_loop_ = false;     // A member of the loop; only then may the loop be used.
  bool loop_ended_ = false;  // The loop is gone.
  bool announced_ = false;   // on_connect was called.
  bool serving_ = false;
  bool paused_by_user_ = false;
  bool paused_by_link_ = false;
  bool ended_ = false;  // By the peer.
  bool shut_wanted_ = false;
  bool shut_ = false;
  bool lingers_ = false;  // Closing, and waits for nothing but the peer's end.
  bool draining_ = false;
  bool busy_ = false;
  bool close_told_ = false;
  bool suspected_ = false;  // Of being dead: it has one more tick to show that it is not.
  bool unheard_ = false;    // A handler was suspended when the heartbeat asked.

  CallbackId notice_ = 0;
  CallbackId connect_timer_ = 0;
  CallbackId flush_timer_ = 0;  // Or the linger deadline's.
  CallbackId heart_timer_ = 0;
  CallbackId reconnect_timer_ = 0;

  Ref<backend::StreamHandle> stream_;
  Address local_;
  Address peer_;
  FramingPtr framing_;
  std::size_t frame_length_ = 0;  // Of the frame that comes in; 0 while unknown.
  ReceiveBuffer received_;
  std::unique_ptr<std::byte[]> dropped_;
  SendQueue queue_;
  std::string encoded_;
  std::optional<Heartbeat> heartbeat_;
  Instant received_at_;
  Instant sent_at_;
  Instant unsent_since_ = Instant::never();
  TcpCounters counters_;

  detail::TcpLink* sink_ = nullptr;
  std::vector<detail::TcpLink*> links_;

  detail::Notifier connect_done_;
  Done<&TcpConnection::look_again> read_done_;
  Done<&TcpConnection::write_completed> write_done_;
  std::optional<backend::ConnectRequest> connect_;
  std::optional<backend::ReadRequest> read_;
  std::optional<backend::WriteRequest> write_;
};

}  // namespace fermata::loop
