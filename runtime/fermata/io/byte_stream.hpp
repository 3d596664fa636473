// SPDX-License-Identifier: Apache-2.0
#pragma once

// What every connection that carries bytes can do: TCP, Unix sockets and pipes alike.
//
// Suspension  read, write and await_readable may suspend; nothing else does.
// Ownership   A value that owns its connection. Closing drops what is not sent yet; who is parked
//             gets InputOutputError "Stream was closed".
// Cancelling  A read that throws, for whatever reason, has taken no byte: what had come for it is
//             there for the next read. A write that is cancelled or times out goes on, only its
//             report is lost. The sending of a file goes on likewise once it has begun; if its file
//             is closed early, the stream takes no more writes.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "fermata/core/suspend.hpp"
#include "fermata/io/handle_owner.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata {

class File;

class ByteStream : public detail::HandleOwner<backend::StreamHandle> {
 public:
  using HandleOwner::HandleOwner;

  /// Waits for some bytes and returns how many came: at least 1, or 0 at the end of the stream.
  /// Concurrent readers are served in their order.
  std::size_t read(std::span<std::byte> buffer, const WaitOptions& options = {},
                   SourcePlace place = SourcePlace::current());

  /// Fills `buffer`, with bytes that follow each other whoever else reads. Throws InputOutputError
  /// "Stream ended after 3 of 8 bytes" when it cannot; then the next read gets the three.
  void read_exact(std::span<std::byte> buffer, const WaitOptions& options = {},
                  SourcePlace place = SourcePlace::current());

  /// Waits until a read would not: bytes are there, the stream has ended, or it has an error to
  /// tell. Takes nothing, and returns to all who wait for it; what another coroutine reads before
  /// this one runs does not count. Throws InputOutputError for a stream that is closed, also
  /// meanwhile; UsageError for one that is only written. See also io/readable.hpp.
  void await_readable(const WaitOptions& options = {}, SourcePlace place = SourcePlace::current());

  /// Returns when the system has accepted all of `data`.
  void write(std::span<const std::byte> data, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current());
  void write(std::string_view text, const WaitOptions& options = {},
             SourcePlace place = SourcePlace::current()) {
    write(std::as_bytes(std::span(text)), options, place);
  }

  /// Writes the bytes of several buffers, with nothing in between. Throws UsageError for more than
  /// kBuffersMax buffers, or more than kTransferMax bytes in all.
  void writev(backend::Buffers buffers, const WaitOptions& options = {},
              SourcePlace place = SourcePlace::current());

  /// Writes what the system accepts at once, at least one byte, and returns how many.
  [[nodiscard]] std::size_t write_some(std::span<const std::byte> data,
                                       const WaitOptions& options = {},
                                       SourcePlace place = SourcePlace::current());

  /// Sends what `file` has from `offset` on, up to `length` bytes, behind everything written so far
  /// and, where the system can, without copying it here. Returns how many bytes went: fewer when
  /// the file ends. The file's position stays. Throws SendFileError, which knows how many bytes
  /// went before; UsageError for an offset that no file has.
  std::uint64_t send_file(File& file, std::uint64_t offset = 0,
                          std::uint64_t length = std::numeric_limits<std::uint64_t>::max(),
                          const WaitOptions& options = {},
                          SourcePlace place = SourcePlace::current());

  /// Ends the writing side, behind everything written so far; reading goes on.
  void shutdown_write() { handle().shutdown_write(); }
};

}  // namespace fermata
