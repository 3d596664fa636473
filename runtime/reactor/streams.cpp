// SPDX-License-Identifier: Apache-2.0
#include "fermata/runtime/reactor/streams.hpp"

#include "fermata/runtime/base/error.hpp"

namespace fermata {

ConnectRequest::ConnectRequest(Streams& streams, const Address& peer)
    : Request(streams.attachment_.runtime(), "connect"), peer_(peer) {
  try {
    stream_ = streams.open_connection(peer);
    stream_->connecting_ = this;
  } catch (const InputOutputError&) {
    fail(std::current_exception());
  }
}

ConnectRequest::~ConnectRequest() {
  if (!completed()) stream_->connecting_ = nullptr;
}

void ConnectRequest::established(int code) noexcept {
  if (code == 0) return complete(0);
  stream_.reset();
  fail(std::make_exception_ptr(InputOutputError("connect to " + peer_.text(), code)));
}

Ref<ListenerHandle> Streams::listen(const Address& address, const ListenOptions& options) {
  Ref<ListenerHandle> listener = open_listener(address, options);
  listener->update_accepting();
  return listener;
}

}  // namespace fermata
