// SPDX-License-Identifier: Apache-2.0
#include "fermata/loop/tcp/pipe.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/error.hpp"

namespace fermata::loop {

TcpPipe::TcpPipe(TcpConnection& source, TcpConnection& destination, TcpPipeOptions options)
    : options_(options) {
  for (const TcpConnection* end : {&source, &destination}) {
    if (end->state() == TcpState::Closing || end->state() == TcpState::Closed) {
      throw UsageError(fmt::format("pipe: connection {} is {}, expected an open one", end->id(),
                                   to_string(end->state())));
    }
  }
  source.set_sink(this);
  destination.watch(*this);
  source_ = source.shared_from_this();
  destination_ = destination.shared_from_this();
  if (destination.is_full()) filled();
}

void TcpPipe::stop() {
  if (!is_active()) return;
  const TcpConnectionPtr source = std::exchange(source_, nullptr);
  const TcpConnectionPtr destination = std::exchange(destination_, nullptr);
  source->set_sink(nullptr);
  destination->unwatch(*this);
  source->pause_for_link(false);
}

void TcpPipe::message(std::string_view message) {
  switch (destination_->send(message)) {
    case SendResult::Sent:
    case SendResult::Queued:
      return;
    case SendResult::RefusedFull:
    case SendResult::RefusedClosed:
    case SendResult::Failed:
      break;
  }
  // A message is lost: what would come behind it must not arrive.
  if (!is_active()) return;
  const TcpConnectionPtr source = source_;
  stop();
  if (options_.close_other) source->close();
}

void TcpPipe::closed(TcpConnection& connection) {
  if (!is_active()) return;
  const bool by_source = &connection == source_.get();
  const TcpConnectionPtr other = by_source ? destination_ : source_;
  stop();
  if (options_.close_other) other->close();
}

}  // namespace fermata::loop
