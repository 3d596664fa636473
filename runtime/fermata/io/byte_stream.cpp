// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/byte_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/request_wait.hpp"

namespace fermata {

std::size_t ByteStream::read(std::span<std::byte> buffer, const WaitOptions& options,
                             SourcePlace place) {
  detail::check_token(options);
  backend::ReadRequest request(handle(), buffer);
  detail::finish(request, options, place);
  const std::size_t size = request.take();
  FERMATA_ASSERT(size <= buffer.size());
  return size;
}

void ByteStream::read_exact(std::span<std::byte> buffer, const WaitOptions& options,
                            SourcePlace place) {
  if (buffer.empty()) return;
  detail::check_token(options);
  backend::ReadRequest request(handle(), buffer, backend::ReadMode::All);
  detail::finish(request, options, place);
  if (request.transferred() < buffer.size()) {  // Not taken: the next read gets them.
    throw InputOutputError(
        fmt::format("Stream ended after {} of {} bytes", request.transferred(), buffer.size()));
  }
  const std::size_t size = request.take();
  FERMATA_ASSERT(size == buffer.size());
}

void ByteStream::await_readable(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  const auto stream = Ref<backend::StreamHandle>::share(handle());
  const detail::Deadline deadline(options);
  do {
    backend::ReadableRequest request(*stream);
    detail::finish(request, deadline.remaining(), place);
  } while (stream->is_closed() || !stream->answers_at_once());
}

void ByteStream::write(std::span<const std::byte> data, const WaitOptions& options,
                       SourcePlace place) {
  detail::check_token(options);
  if (const std::size_t written = handle().write_at_once(data)) {
    FERMATA_ASSERT(written <= data.size());
    if (written == data.size()) return;
    data = data.subspan(written);
  }
  const detail::Deadline deadline(options);
  do {
    detail::check_token(options);
    backend::WriteRequest request(handle(), data);
    detail::finish(request, deadline.remaining(), place);
    FERMATA_ASSERT(request.transferred() <= data.size());
    data = data.subspan(request.transferred());
  } while (!data.empty());
}

void ByteStream::writev(backend::Buffers buffers, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::WriteRequest request(handle(), buffers);
  detail::finish(request, options, place);
}

std::size_t ByteStream::write_some(std::span<const std::byte> data, const WaitOptions& options,
                                   SourcePlace place) {
  detail::check_token(options);
  if (const std::size_t written = handle().write_at_once(data)) return written;
  backend::WriteRequest request(handle(), data, backend::WriteMode::Some);
  detail::finish(request, options, place);
  FERMATA_ASSERT(request.transferred() <= data.size());
  return request.transferred();
}

std::uint64_t ByteStream::send_file(File& file, std::uint64_t offset, std::uint64_t length,
                                    const WaitOptions& options, SourcePlace place) {
  const detail::Deadline deadline(options);
  const auto from = Ref<backend::FileHandle>::share(file.handle());
  std::uint64_t sent = 0;
  while (true) {
    detail::check_token(options);
    backend::WriteRequest request(handle(), *from, offset + sent, length - sent);
    const std::uint64_t wanted = std::min(length - sent, std::uint64_t{backend::kTransferMax});
    try {
      detail::finish(request, deadline.remaining(), place);
    } catch (const SendFileError& error) {
      if (sent == 0) throw;
      throw SendFileError(from->path(), sent + error.sent(), error.code());
    }
    FERMATA_ASSERT(request.transferred() <= wanted);
    sent += request.transferred();
    if (sent == length || request.transferred() < wanted) return sent;
  }
}

}  // namespace fermata
