// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "fermata/core/reactor.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata::os {

/// TCP; for anything else each throws Unsupported, which names the reactor.
class TcpStreams : public fermata::backend::Streams {
 public:
  [[nodiscard]] backend::PipeHandles open_pipe() final;
  [[nodiscard]] Ref<backend::StreamHandle> open_standard(backend::StandardStream which) final;

 protected:
  TcpStreams(fermata::detail::Attachment& attachment, const backend::Reactor& reactor) noexcept
      : fermata::backend::Streams(attachment), reactor_(reactor) {}

 private:
  // --- hooks ---

  /// A listener that is bound and paused. Throws InputOutputError.
  virtual Ref<backend::ListenerHandle> listen_at(const Address& address,
                                                 const ListenOptions& options) = 0;
  /// A stream on `descriptor`, a socket that does not block, which it owns from now on, and which
  /// connects to `peer`. Throws InputOutputError, and then closes the socket.
  virtual Ref<backend::StreamHandle> connect(int descriptor, const Address& peer) = 0;

  Ref<backend::ListenerHandle> open_listener(const Address& address,
                                             const ListenOptions& options) final;
  Ref<backend::ListenerHandle> open_listener(const backend::PipePath& path,
                                             const ListenOptions& options) final;
  Ref<backend::StreamHandle> open_connection(const Address& peer) final;
  Ref<backend::StreamHandle> open_connection(const backend::PipePath& peer) final;

  [[noreturn]] void refuse(std::string_view part) const;

  const backend::Reactor& reactor_;
};

}  // namespace fermata::os
