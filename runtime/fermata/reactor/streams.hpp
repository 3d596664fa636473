// SPDX-License-Identifier: Apache-2.0
#pragma once

// The part of a reactor that makes listeners and connections.

#include <string>
#include <variant>

#include "fermata/reactor/listener.hpp"
#include "fermata/reactor/pipe_path.hpp"
#include "fermata/reactor/stream.hpp"
#include "fermata/reactor/terminal.hpp"

namespace fermata::backend {

class Streams;

/// Where a stream leads to, or a listener listens: TCP or a Unix socket.
using StreamPlace = std::variant<Address, PipePath>;
[[nodiscard]] std::string to_string(const StreamPlace& place);

/// Establishes a connection. Its end before completion closes the half-open one.
class ConnectRequest final : public Request {
 public:
  ConnectRequest(Streams& streams, StreamPlace peer);
  ~ConnectRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// The connection, once completed without an error; one that is not taken is closed.
  [[nodiscard]] Ref<StreamHandle> take() noexcept { return std::move(stream_); }

 private:
  friend class StreamHandle;

  void established(int code) noexcept;

  StreamPlace peer_;
  Ref<StreamHandle> stream_;
};

/// The two ends of an anonymous pipe.
struct PipeHandles {
  Ref<StreamHandle> reader;
  Ref<StreamHandle> writer;
};

class Streams {
 public:
  virtual ~Streams() = default;

  /// Throws InputOutputError naming the place, for instance when it is in use.
  [[nodiscard]] Ref<ListenerHandle> listen(const StreamPlace& place,
                                           const ListenOptions& options = {});

  /// Throws InputOutputError when the system has no descriptors left.
  [[nodiscard]] virtual PipeHandles open_pipe() = 0;

  /// A stream of its own on what `which` stands for: it is duplicated, and outlives the stream.
  /// Throws InputOutputError, for instance when that is a file.
  [[nodiscard]] virtual Ref<StreamHandle> open_standard(StandardStream which) = 0;

 protected:
  explicit Streams(detail::Attachment& attachment) noexcept : attachment_(attachment) {}

  // --- hooks ---

  /// A listener that is bound and paused. Throws InputOutputError.
  virtual Ref<ListenerHandle> open_listener(const Address& address,
                                            const ListenOptions& options) = 0;
  virtual Ref<ListenerHandle> open_listener(const PipePath& path, const ListenOptions& options) = 0;
  /// A stream that connects: StreamHandle::connected() follows, later. Throws InputOutputError.
  virtual Ref<StreamHandle> open_connection(const Address& peer) = 0;
  virtual Ref<StreamHandle> open_connection(const PipePath& peer) = 0;

  detail::Attachment& attachment_;

 private:
  friend class ConnectRequest;
};

}  // namespace fermata::backend
