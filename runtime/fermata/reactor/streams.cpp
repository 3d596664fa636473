// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/streams.hpp"

#include <fmt/format.h>

#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"

namespace fermata::backend {

std::string to_string(const StreamPlace& place) {
  return std::visit([](const auto& each) { return std::string(each.text()); }, place);
}

ConnectRequest::ConnectRequest(Streams& streams, StreamPlace peer)
    : Request(streams.attachment_.runtime(), "connect"), peer_(std::move(peer)) {
  try {
    stream_ = std::visit([&](const auto& place) { return streams.open_connection(place); }, peer_);
    stream_->connecting_ = this;
  } catch (const InputOutputError&) {
    fail(std::current_exception());
  }
}

void ConnectRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  facts.is("connect", to_string(peer_), nullptr);
  facts.outside("the peer");
}

ConnectRequest::~ConnectRequest() {
  if (is_completed()) return;
  FERMATA_ASSERT(stream_->connecting_ == this);
  stream_->connecting_ = nullptr;
}

void ConnectRequest::established(int code) noexcept {
  FERMATA_ASSERT(code >= 0);
  FERMATA_ASSERT(stream_.get() != nullptr);
  if (code == 0) return complete(0);
  stream_.reset();
  fail(std::make_exception_ptr(InputOutputError("connect to " + to_string(peer_), code)));
}

Ref<ListenerHandle> Streams::listen(const StreamPlace& place, const ListenOptions& options) {
  if (options.backlog < 1 || options.accepts_per_turn < 1) {
    throw UsageError(
        fmt::format("listen at {}: backlog {}, accepts_per_turn {}: expected at least 1 of each",
                    to_string(place), options.backlog, options.accepts_per_turn));
  }
  Ref<ListenerHandle> listener =
      std::visit([&](const auto& each) { return open_listener(each, options); }, place);
  listener->update_accepting();
  return listener;
}

}  // namespace fermata::backend
