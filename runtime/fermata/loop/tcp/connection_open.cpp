// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/loop/tcp/connection.hpp"
#include "fermata/reactor/keep_alive.hpp"

namespace fermata::loop {

TcpConnectionPtr TcpConnection::connect(Loop& loop, const Address& peer, TcpHandlers handlers,
                                        TcpClientOptions options, SourcePlace place) {
  options.check();
  auto connection = std::make_shared<TcpConnection>(
      Private{}, loop, std::make_shared<const TcpHandlers>(std::move(handlers)),
      std::make_shared<const TcpClientOptions>(std::move(options)), place);
  connection->connects_to_ = connection->peer_ = peer;
  connection->begin_connecting();
  return connection;
}

TcpConnectionPtr TcpConnection::adopt(Loop& loop, Ref<backend::StreamHandle> stream,
                                      std::shared_ptr<const TcpHandlers> handlers,
                                      std::shared_ptr<const TcpOptions> options,
                                      detail::TcpOwner* owner, SourcePlace place) {
  auto connection = std::make_shared<TcpConnection>(Private{}, loop, std::move(handlers),
                                                    std::move(options), place);
  if (connection->options_->framing) connection->framing_ = connection->options_->framing();
  connection->enter_loop();
  connection->owner_ = owner;
  connection->establish(std::move(stream));
  loop.notice(connection->notice_);
  return connection;
}

void TcpConnection::begin_connecting() {
  FERMATA_ASSERT(connects_to_ && !connect_ && !stream_);
  if (options_->framing) framing_ = options_->framing();
  connect_.emplace(loop_.runtime().reactor().streams(), *connects_to_);
  enter_loop();
  state_ = TcpState::Connecting;
  const Duration timeout = static_cast<const TcpClientOptions&>(*options_).connect_timeout;
  connect_timer_ = loop_.delay(timeout, [this, timeout] {
    connect_timer_ = 0;
    fail(TcpFailureKind::Connect, ETIMEDOUT,
         fmt::format("connect to {}: no answer within {} ms", connects_to_->text(),
                     std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count()));
  });
  if (connect_->is_completed()) {
    loop_.notice(notice_);
  } else {
    connect_->add_callback(connect_done_);
  }
}

void TcpConnection::finish_connecting() {
  FERMATA_ASSERT(connect_ && connect_->is_completed());
  cancel_timer(connect_timer_);
  const std::exception_ptr error = connect_->error();
  Ref<backend::StreamHandle> stream = connect_->take();
  connect_.reset();
  if (error) return fail(TcpFailureKind::Connect, error);
  establish(std::move(stream));
  submit();
}

void TcpConnection::establish(Ref<backend::StreamHandle> stream) {
  FERMATA_ASSERT(stream && !stream_);
  stream_ = std::move(stream);
  stream_->set_made_at(place_);
  state_ = TcpState::Established;
  local_ = stream_->local_address();
  peer_ = stream_->peer_address();
  received_at_ = sent_at_ = now();
  try {
    if (!options_->no_delay) stream_->set_option(backend::SocketOption::NoDelay, 0);
    if (options_->keep_alive) {
      stream_->set_option(backend::SocketOption::KeepAlive,
                          fermata::detail::keep_alive_seconds(options_->keep_alive, "keep_alive"));
    }
  } catch (const InputOutputError&) {
    // The peer is gone already; reading tells.
  }
  if (!options_->heartbeat.on()) return;
  heartbeat_.emplace(options_->heartbeat, received_at_);
  suspected_ = false;
  beat();
}

/// Looks after the peer, and arms the one timer for the next time.
void TcpConnection::beat() {
  FERMATA_ASSERT(heartbeat_ && state_ == TcpState::Established);
  heart_timer_ = 0;
  while (true) {
    const Instant at = now();
    const Heartbeat::Verdict verdict =
        heartbeat_->ask({received_at_, unsent_since_, is_deaf()}, at);
    unheard_ = unheard_ || (serving_ && announced_);
    const bool dead =
        verdict.action == Heartbeat::Action::Silent || verdict.action == Heartbeat::Action::Stalled;
    if (const bool suspected = std::exchange(suspected_, dead); dead && !suspected) {
      // Perhaps it was this program that was busy: what has come meanwhile is looked at first.
      heart_timer_ = loop_.delay(
          Duration::zero(), [this] { beat(); }, place_);
      return;
    }
    switch (verdict.action) {
      case Heartbeat::Action::Silent:
        return fail(TcpFailureKind::Silence, ETIMEDOUT, "no byte from the peer for too long");
      case Heartbeat::Action::Stalled:
        return fail(TcpFailureKind::Stalled, ETIMEDOUT, "the peer no longer takes bytes");
      case Heartbeat::Action::Ping:
        ++counters_.pings;
        loop_.queue([self = shared_from_this()] {
          if (self->state_ != TcpState::Established) return;
          self->guarded([&] { self->options_->heartbeat.ping(*self); });
        });
        continue;
      case Heartbeat::Action::Wait:
        heart_timer_ = loop_.delay(
            verdict.again - at, [this] { beat(); }, place_);
        return;
    }
  }
}

void TcpConnection::reconnect(TimeSpan after) {
  if (!connects_to_) throw UsageError("reconnect: an accepted connection has nobody to connect to");
  if (state_ != TcpState::Closed) {
    throw UsageError(
        fmt::format("reconnect: the connection is {}, expected a closed one", to_string(state_)));
  }
  if (loop_ended_) throw UsageError("reconnect: the event loop has ended");
  if (!handlers_) throw UsageError("reconnect: on_close has returned, and the handlers are gone");
  cancel_timer(reconnect_timer_);
  reconnect_timer_ = loop_.delay(
      after, [self = shared_from_this()] { self->begin_again(); }, place_);
}

bool TcpConnection::cancel_reconnect() {
  if (reconnect_timer_ == 0) return false;
  cancel_timer(reconnect_timer_);
  release_if_over();
  return true;
}

void TcpConnection::begin_again() {
  reconnect_timer_ = 0;
  announced_ = ended_ = shut_wanted_ = shut_ = lingers_ = close_told_ = false;
  paused_by_user_ = paused_by_link_ = busy_ = draining_ = false;
  frame_length_ = 0;
  received_.clear();
  try {
    begin_connecting();
  } catch (...) {  // From the program's framing, or for want of memory: it is over.
    detach();
    close_told_ = true;
    release_if_over();
    throw;
  }
}

}  // namespace fermata::loop
