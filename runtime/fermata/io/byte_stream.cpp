// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/byte_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/request_wait.hpp"

namespace fermata {

namespace {
const auto kTransferred = std::mem_fn(&backend::Request::transferred);
}  // namespace

std::size_t ByteStream::read(std::span<std::byte> buffer, const WaitOptions& options,
                             SourcePlace place) {
  detail::check_token(options);
  const std::size_t size = detail::perform<backend::ReadRequest>(
      options, place, std::mem_fn(&backend::ReadRequest::take), handle(), buffer);
  FERMATA_ASSERT(size <= buffer.size());
  return size;
}

void ByteStream::read_exact(std::span<std::byte> buffer, const WaitOptions& options,
                            SourcePlace place) {
  if (buffer.empty()) return;
  detail::check_token(options);
  const auto take_all = [&](backend::ReadRequest& request) {
    const bool is_all = request.transferred() == buffer.size();
    return is_all ? request.take() : request.transferred();  // Not taken: the next read gets them.
  };
  const std::size_t size = detail::perform<backend::ReadRequest>(options, place, take_all, handle(),
                                                                 buffer, backend::ReadMode::All);
  if (size < buffer.size()) {
    throw InputOutputError(fmt::format("Stream ended after {} of {} bytes", size, buffer.size()));
  }
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
    const std::size_t written = detail::perform<backend::WriteRequest>(
        deadline.remaining(), place, kTransferred, handle(), data);
    FERMATA_ASSERT(written <= data.size());
    data = data.subspan(written);
  } while (!data.empty());
}

void ByteStream::writev(backend::Buffers buffers, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  detail::perform<backend::WriteRequest>(options, place, kTransferred, handle(), buffers);
}

std::size_t ByteStream::write_some(std::span<const std::byte> data, const WaitOptions& options,
                                   SourcePlace place) {
  detail::check_token(options);
  if (const std::size_t written = handle().write_at_once(data)) return written;
  const std::size_t written = detail::perform<backend::WriteRequest>(
      options, place, kTransferred, handle(), data, backend::WriteMode::Some);
  FERMATA_ASSERT(written <= data.size());
  return written;
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
