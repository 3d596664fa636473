// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that makes listeners and connections.

#include "fermata/runtime/reactor/listener.hpp"
#include "fermata/runtime/reactor/stream.hpp"

namespace fermata {

class Streams;

/// Establishes a connection. Its end before completion closes the half-open one.
class ConnectRequest final : public Request {
 public:
  ConnectRequest(Streams& streams, const Address& peer);
  ~ConnectRequest() override;

  /// The connection, once completed without an error; one that is not taken is closed.
  [[nodiscard]] Ref<StreamHandle> take() noexcept { return std::move(stream_); }

 private:
  friend class StreamHandle;

  void established(int code) noexcept;

  Address peer_;
  Ref<StreamHandle> stream_;
};

class Streams {
 public:
  virtual ~Streams() = default;

  /// Throws InputOutputError naming the address, for instance when it is in use.
  [[nodiscard]] Ref<ListenerHandle> listen(const Address& address,
                                           const ListenOptions& options = {});

 protected:
  explicit Streams(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks ---

  /// A listener that is bound and paused. Throws InputOutputError.
  virtual Ref<ListenerHandle> open_listener(const Address& address,
                                            const ListenOptions& options) = 0;
  /// A stream that connects: StreamHandle::connected() follows, later. Throws InputOutputError.
  virtual Ref<StreamHandle> open_connection(const Address& peer) = 0;

  detail::Attachment& attachment_;

 private:
  friend class ConnectRequest;
};

}  // namespace fermata
