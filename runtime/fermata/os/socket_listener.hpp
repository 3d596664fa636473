// SPDX-License-Identifier: Apache-2.0
#pragma once

// Listeners on sockets of the system, whoever tells them that connections wait.

#include "fermata/reactor/listener.hpp"
#include "fermata/reactor/pipe_path.hpp"

namespace fermata::os {

/// A socket that listens, does not block, and is the caller's. Throws InputOutputError naming the
/// place.
[[nodiscard]] int listen_at(const Address& address, const ListenOptions& options);
[[nodiscard]] int listen_at(const backend::PipePath& path, const ListenOptions& options);

class SocketListener : public backend::ListenerHandle {
 protected:
  SocketListener(fermata::detail::Attachment& attachment, int descriptor,
                 const ListenOptions& options)
      : backend::ListenerHandle(attachment, options),
        descriptor_(descriptor),
        accepts_per_turn_(options.accepts_per_turn) {}

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  /// Connections wait: takes as many of them as one turn may.
  void accept_some() noexcept;
  /// A connection was accepted: `descriptor`, which does not block.
  void take(int descriptor) noexcept;

 private:
  /// The stream on a connected socket, which it owns from now on. Throws InputOutputError; then the
  /// socket is still the caller's.
  virtual Ref<backend::StreamHandle> adopt(int descriptor) = 0;

  int descriptor_;
  int accepts_per_turn_;
};

}  // namespace fermata::os
