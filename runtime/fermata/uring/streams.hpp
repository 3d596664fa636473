// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/tcp_streams.hpp"
#include "fermata/uring/tcp.hpp"

namespace fermata::uring::detail {

class Streams final : public os::TcpStreams {
 public:
  Streams(Loop& loop, const backend::Reactor& reactor)
      : TcpStreams(loop.attachment(), reactor), loop_(loop) {}

 private:
  Ref<backend::ListenerHandle> listen_at(const Address& address,
                                         const ListenOptions& options) override {
    return Ref<backend::ListenerHandle>::adopt(*new TcpListener(loop_, address, options));
  }

  Ref<backend::StreamHandle> connect(int descriptor, const Address& peer) override {
    auto stream = Ref<TcpSocket>::adopt(*new TcpSocket(loop_, descriptor));
    stream->connect(peer);
    return Ref<backend::StreamHandle>::adopt(*stream.detach());
  }

  Loop& loop_;
};

}  // namespace fermata::uring::detail
