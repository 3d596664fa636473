// SPDX-License-Identifier: Apache-2.0
#pragma once

// Byte streams within one machine: Unix sockets, which have a path, and anonymous pipes.

#include <string_view>

#include "fermata/io/byte_stream.hpp"
#include "fermata/io/stream_listener.hpp"

namespace fermata {

class PipeStream : public ByteStream {
 public:
  using ByteStream::ByteStream;

  /// May suspend. Throws UsageError when `path` is empty, longer than 107 bytes or has a NUL in it;
  /// InputOutputError, for instance "connect to /run/store: No such file or directory".
  [[nodiscard]] static PipeStream connect(std::string_view path, const WaitOptions& options = {},
                                          SourcePlace place = SourcePlace::current());
};

class PipeListener : public detail::StreamListener<PipeStream> {
 public:
  using StreamListener::StreamListener;

  /// Listens at `path` and creates the socket's file, which is removed with the listener. Throws
  /// like PipeStream::connect, for instance "listen at /run/store: Address already in use".
  [[nodiscard]] static PipeListener bind(std::string_view path, const ListenOptions& options = {},
                                         SourcePlace place = SourcePlace::current());
};

/// The two ends of a pipe: bytes written to `writer` are read from `reader`; the other direction is
/// refused with UsageError.
struct PipeEnds {
  PipeStream reader;
  PipeStream writer;
};

/// A pipe without a name. Throws InputOutputError when the system has no descriptors left.
[[nodiscard]] PipeEnds open_pipe(SourcePlace place = SourcePlace::current());

}  // namespace fermata
