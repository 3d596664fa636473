// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/listener.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/closed_error.hpp"

namespace fermata::backend {

namespace {

bool is_shortage(int code) {
  return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

/// The connection that was about to be accepted has gone; the listener is well (accept(2)).
bool is_transient(int code) {
  constexpr int kTransient[] = {EAGAIN,    EINTR,        ECONNABORTED, EPROTO,    ENETDOWN,   EPERM,
                                EHOSTDOWN, EHOSTUNREACH, ENETUNREACH,  ETIMEDOUT, ENOPROTOOPT};
  return std::find(std::begin(kTransient), std::end(kTransient), code) != std::end(kTransient);
}

}  // namespace

AcceptRequest::AcceptRequest(ListenerHandle& listener)
    : Request(listener.runtime(), "accept"), listener_(Ref<ListenerHandle>::share(listener)) {
  listener.accept(*this);
}

void AcceptRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("listener", listener_->local_address().text(), listener_->made_at());
  facts.wanted("accept");
}

AcceptRequest::~AcceptRequest() {
  if (!is_completed()) {
    listener_->acceptors_.remove(*this);
  } else if (connection_) {
    listener_->give_back(std::move(connection_));
  } else if (refused_for_ != 0 && !listener_->is_closed()) {
    listener_->refuse_next(refused_for_);
  }
}

void AcceptRequest::refuse(int code) noexcept {
  FERMATA_ASSERT(code > 0);
  refused_for_ = code;
  fail(code);
}

ListenerHandle::ListenerHandle(detail::Attachment& attachment, const ListenOptions& options)
    : Handle(attachment, EventKind::Listener),
      backlog_(static_cast<std::size_t>(options.backlog)),
      retry_(runtime(), kRetryDelay, TimerMode::Multishot) {
  FERMATA_ASSERT(options.backlog > 0);
  retry_.set_hidden(true);
  on_retry_ = subscribe(retry_, [this](Event&, const Outcome&) {
    retrying_ = false;
    update_accepting();
  });
}

void ListenerHandle::accept(AcceptRequest& request) {
  FERMATA_ASSERT(acceptors_.empty() || connections_.empty());
  if (is_closed()) {
    return request.fail(detail::closed_error("Cannot accept from closed IO handle"));
  }
  if (!connections_.empty()) {
    request.connection_ = std::move(connections_.front());
    connections_.pop_front();
    request.complete(0);
    update_accepting();
  } else if (pending_code_ != 0) {
    request.refuse(std::exchange(pending_code_, 0));
  } else {
    acceptors_.push_back(request);
  }
}

void ListenerHandle::accepted(Ref<StreamHandle> connection) {
  FERMATA_ASSERT(connection.get() != nullptr);
  if (is_closed()) return;
  if (AcceptRequest* acceptor = acceptors_.first()) {
    acceptors_.remove(*acceptor);
    acceptor->connection_ = std::move(connection);
    acceptor->complete(0);
  } else {
    connections_.push_back(std::move(connection));
    update_accepting();
  }
}

void ListenerHandle::accept_failed(int code) {
  FERMATA_ASSERT(code > 0);
  if (is_closed() || is_transient(code)) return;
  if (is_shortage(code)) {
    retrying_ = true;
    retry_.rearm(kRetryDelay);
    update_accepting();
  } else {
    refuse_next(code);
  }
}

void ListenerHandle::refuse_next(int code) noexcept {
  if (AcceptRequest* acceptor = acceptors_.first()) {
    acceptors_.remove(*acceptor);
    acceptor->refuse(code);
  } else {
    pending_code_ = code;
  }
}

void ListenerHandle::give_back(Ref<StreamHandle> connection) {
  FERMATA_ASSERT(connection.get() != nullptr);
  if (is_closed()) return;
  if (acceptors_.empty()) {
    connections_.push_front(std::move(connection));
    update_accepting();
  } else {
    accepted(std::move(connection));
  }
}

void ListenerHandle::update_accepting() {
  const bool wanted = !is_closed() && !retrying_ && connections_.size() < backlog_;
  if (wanted == accepting_) return;
  if (wanted) {
    resume_accepting();
  } else {
    pause_accepting();
  }
  accepting_ = wanted;
}

void ListenerHandle::fail_parked() {
  retry_.stop();
  update_accepting();
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(!accepting_);
  connections_.clear();
  const auto error = std::make_exception_ptr(InputOutputError("Listener was closed"));
  while (AcceptRequest* acceptor = acceptors_.first()) {
    acceptors_.remove(*acceptor);
    acceptor->fail(error);
  }
}

}  // namespace fermata::backend
