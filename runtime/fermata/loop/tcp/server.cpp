// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/server.hpp"

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/core/runtime.hpp"

namespace fermata::loop {

TcpServer::TcpServer(Loop& loop, const Address& address, TcpHandlers handlers,
                     TcpServerOptions options, SourcePlace place)
    : loop_(loop),
      handlers_(std::make_shared<const TcpHandlers>(std::move(handlers))),
      connection_options_(std::make_shared<const TcpOptions>(options.connection)),
      options_(std::move(options)),
      place_(place),
      accepted_(loop) {
  connection_options_->check();
  listener_ = loop.runtime().reactor().streams().listen(address, options_.listen);
  listener_->set_made_at(place);
  local_ = listener_->local_address();
  notice_ = loop.on_notice([this] { accept(); }, place);
  accepted_.set_notice(notice_);
  loop.notice(notice_);
}

TcpServer::~TcpServer() {
  unlisten();
  if (stop_timer_ != 0) loop_.cancel(stop_timer_);
  for (const auto& [id, connection] : std::exchange(connections_, {})) connection->abandon();
}

std::vector<TcpConnectionPtr> TcpServer::connections() const {
  std::vector<TcpConnectionPtr> all;
  all.reserve(connections_.size());
  for (const auto& [id, connection] : connections_) all.push_back(connection);
  return all;
}

void TcpServer::unlisten() {
  request_.reset();
  if (listener_) {
    listener_->close();
    listener_.reset();
  }
  if (notice_ != 0) loop_.cancel(std::exchange(notice_, 0));
}

void TcpServer::pause_accept() {
  paused_ = true;
  request_.reset();
}

void TcpServer::resume_accept() {
  if (std::exchange(paused_, false) && notice_ != 0) loop_.notice(notice_);
}

/// Accepts all that there are, up to the budget of one tick.
void TcpServer::accept() {
  for (int budget = options_.listen.accepts_per_turn; listener_ && !paused_; --budget) {
    if (!request_) {
      request_.emplace(*listener_);
      if (!request_->is_completed()) {
        request_->add_callback(accepted_);
        return;
      }
    }
    if (!request_->is_completed()) return;
    if (budget == 0) return loop_.notice(notice_);
    try {
      take();
    } catch (...) {  // From the program's framing, or for want of memory.
      loop_.notice(notice_);
      throw;
    }
  }
}

void TcpServer::take() {
  FERMATA_ASSERT(request_ && request_->is_completed());
  const std::exception_ptr error = request_->error();
  Ref<backend::StreamHandle> stream = request_->take();
  request_.reset();
  if (error) {
    ++counters_.accept_errors;
    if (!options_.on_accept_error) return;
    try {
      std::rethrow_exception(error);
    } catch (const InputOutputError& failed) {
      loop_.queue([told = options_.on_accept_error, code = failed.code()] { told(code); });
    }
    return;
  }
  ++counters_.accepted;
  const TcpConnectionPtr connection =
      TcpConnection::adopt(loop_, std::move(stream), handlers_, connection_options_, this, place_);
  connections_.emplace(connection->id(), connection);
}

void TcpServer::stop(TimeSpan deadline, Task on_stopped) {
  stopping_ = true;
  on_stopped_ = std::move(on_stopped);
  if (stop_timer_ != 0) loop_.cancel(std::exchange(stop_timer_, 0));
  unlisten();
  for (const auto& connection : connections()) connection->drain();
  if (connections_.empty()) return finish_stop();
  stop_timer_ = loop_.delay(
      deadline,
      [this] {
        stop_timer_ = 0;
        for (const auto& connection : connections()) connection->destroy();
      },
      place_);
}

void TcpServer::finish_stop() {
  if (!std::exchange(stopping_, false)) return;
  if (stop_timer_ != 0) loop_.cancel(std::exchange(stop_timer_, 0));
  if (on_stopped_) loop_.queue(std::move(on_stopped_));
}

void TcpServer::connection_closed(TcpConnection& connection) noexcept {
  ++counters_.closed;
  counters_.traffic += connection.counters();
  connections_.erase(connection.id());
  if (connections_.empty()) finish_stop();
}

}  // namespace fermata::loop
