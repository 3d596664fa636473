// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/os/tcp_streams.hpp"
#include "fermata/poll/watches.hpp"

namespace fermata::poll::detail {

class Streams final : public os::TcpStreams {
 public:
  Streams(Watches& watches, const backend::Reactor& reactor)
      : TcpStreams(watches.attachment(), reactor), watches_(watches) {}

 private:
  Ref<backend::ListenerHandle> listen_at(const Address& address,
                                         const ListenOptions& options) override;
  Ref<backend::StreamHandle> connect(int descriptor, const Address& peer) override;

  Watches& watches_;
};

}  // namespace fermata::poll::detail
