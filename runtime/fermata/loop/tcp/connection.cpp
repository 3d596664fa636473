// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/connection.hpp"

#include <utility>

#include "fermata/core/runtime.hpp"
#include "fermata/loop/tcp/at_exit.hpp"

namespace fermata::loop {

const char* to_string(TcpState state) noexcept {
  switch (state) {
    case TcpState::Initial:
      return "initial";
    case TcpState::Connecting:
      return "connecting";
    case TcpState::Established:
      return "established";
    case TcpState::Closing:
      return "closing";
    case TcpState::Closed:
      return "closed";
  }
  return "?";
}

TcpCounters& TcpCounters::operator+=(const TcpCounters& other) noexcept {
  bytes_received += other.bytes_received;
  bytes_sent += other.bytes_sent;
  messages_received += other.messages_received;
  messages_sent += other.messages_sent;
  messages_refused += other.messages_refused;
  pings += other.pings;
  times_full += other.times_full;
  return *this;
}

TcpConnection::TcpConnection(Private, Loop& loop, std::shared_ptr<const TcpHandlers> handlers,
                             std::shared_ptr<const TcpOptions> options, SourcePlace place)
    : loop_(loop),
      handlers_(std::move(handlers)),
      options_(std::move(options)),
      place_(place),
      id_(0),
      queue_(options_->marks),
      connect_done_(loop),
      read_done_(*this),
      write_done_(*this) {}

TcpConnection::~TcpConnection() { leave_loop(); }

Instant TcpConnection::now() const { return loop_.runtime().now(); }

/// From now on the loop owns the connection and calls serve() after a notice.
void TcpConnection::enter_loop() {
  FERMATA_ASSERT(!loop_ended_ && notice_ == 0);
  notice_ = loop_.on_notice([self = shared_from_this()] { self->serve(); }, place_);
  if (!std::exchange(in_loop_, true)) loop_.add(*this);
  if (id_ == 0) id_ = notice_;
  connect_done_.set_notice(notice_);
}

/// Everything that the reactor has completed, in the order in which the program hears of it.
void TcpConnection::serve() {
  if (serving_) return;  // A loop with overlap; the notice that ends this one's wait comes again.
  const TcpConnectionPtr self = shared_from_this();
  serving_ = true;
  const detail::AtExit done([this] {
    serving_ = false;
    release_if_over();
  });
  if (connect_ && connect_->is_completed()) finish_connecting();
  if (state_ == TcpState::Established && !std::exchange(announced_, true)) {
    guarded([this] { call(&TcpHandlers::on_connect); });
  }
  if (write_ && write_->is_completed()) finish_write();
  receive();
  if (std::exchange(unheard_, false) && state_ == TcpState::Established) received_at_ = now();
  serving_ = false;
  settle();
}

/// Takes the steps that wait for the queue to be empty, or for nothing to be under way.
void TcpConnection::settle() {
  const bool flushed = queue_.empty();
  if (state_ == TcpState::Closing && flushed) return linger();
  if (state_ != TcpState::Established) return;
  if (shut_wanted_ && flushed && !std::exchange(shut_, true)) stream_->shutdown_write();
  if (shut_ && ended_) return destroy();
  if (draining_ && is_idle()) close();
}

bool TcpConnection::is_idle() const noexcept {
  return !busy_ && !serving_ && queue_.empty() && received_.empty();
}

/// Whether the peer cannot be heard now: by the program's will, for it has ended, or because a
/// handler is suspended.
bool TcpConnection::is_deaf() const noexcept {
  return is_paused() || ended_ || (serving_ && announced_);
}

void TcpConnection::set_busy(bool busy) {
  busy_ = busy;
  settle();
}

void TcpConnection::drain() {
  draining_ = true;
  settle();
}

void TcpConnection::set_marks(const WaterMarks& marks) {
  marks.check();
  queue_.set_marks(marks);
}

// --- calling back ---

/// Whether `error` may say that the coroutine which calls back has to end: the loop's affair.
bool TcpConnection::is_end_of_coroutine(const std::exception_ptr& error) noexcept {
  return is_cancellation(error) || is_forced_unwind(error);
}

void TcpConnection::call(TcpHandlers::Event TcpHandlers::*handler) {
  const auto handlers = handlers_;
  if (handlers && (*handlers).*handler) ((*handlers).*handler)(*this);
}

/// Calls user code; what it throws is dealt with as the options say.
void TcpConnection::guarded(Task call) {
  try {
    call();
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    if (options_->handler_errors == HandlerErrors::ToLoop || is_end_of_coroutine(error)) {
      if (state_ != TcpState::Closed) loop_.notice(notice_);
      throw;
    }
    const bool is_told = handlers_ && handlers_->on_error && state_ != TcpState::Closed;
    fail(TcpFailureKind::Handler, 0, message_of(error), error);
    if (!is_told) throw;
  }
}

/// Calls the handler behind the callback that runs now.
void TcpConnection::announce(TcpHandlers::Event TcpHandlers::*handler) {
  if (!handlers_ || !((*handlers_).*handler)) return;
  loop_.queue([self = shared_from_this(), handler] {
    if (self->state_ == TcpState::Closed) return;
    self->guarded([&] { self->call(handler); });
  });
}

// --- pausing ---

void TcpConnection::set_paused(bool& flag, bool paused) {
  const bool was = this->is_paused();
  if (state_ == TcpState::Closing || state_ == TcpState::Closed || flag == paused) return;
  flag = paused;
  if (!was || this->is_paused() || state_ != TcpState::Established) return;
  received_at_ = now();
  loop_.notice(notice_);
}

void TcpConnection::pause_receiving() { set_paused(paused_by_user_, true); }
void TcpConnection::resume_receiving() { set_paused(paused_by_user_, false); }
void TcpConnection::pause_for_link(bool paused) { set_paused(paused_by_link_, paused); }

// --- links ---

void TcpConnection::set_sink(detail::TcpLink* link) {
  if (link != nullptr && sink_ != nullptr) {
    throw UsageError("pipe: the messages of this connection go into another pipe already");
  }
  sink_ = link;
}

void TcpConnection::watch(detail::TcpLink& link) { links_.push_back(&link); }
void TcpConnection::unwatch(detail::TcpLink& link) noexcept { std::erase(links_, &link); }

}  // namespace fermata::loop
