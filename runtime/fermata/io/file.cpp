// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/file.hpp"

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/io/request_wait.hpp"

namespace fermata {

namespace {

std::size_t read_from(backend::FileHandle& handle, std::span<std::byte> buffer,
                      std::optional<std::uint64_t> offset, const WaitOptions& options,
                      const SourcePlace& place) {
  detail::check_token(options);
  backend::FileReadRequest request(handle, buffer, offset);
  detail::finish(request, options, place);
  const std::size_t size = request.take();
  FERMATA_ASSERT(size <= buffer.size());
  return size;
}

void write_all(backend::FileHandle& handle, std::span<const std::byte> data,
               std::optional<std::uint64_t> offset, const WaitOptions& options,
               const SourcePlace& place) {
  const auto file = Ref<backend::FileHandle>::share(handle);
  const detail::Deadline deadline(options);
  do {
    detail::check_token(options);
    backend::FileWriteRequest request(*file, data, offset);
    detail::finish(request, deadline.remaining(), place);
    FERMATA_ASSERT(request.transferred() <= data.size());
    data = data.subspan(request.transferred());
    if (offset) *offset += request.transferred();
  } while (!data.empty());
}

std::optional<FileLock> lock_of(backend::FileHandle& handle, backend::FileLockKind kind,
                                backend::FileLockRequest::Patience patience,
                                const WaitOptions& options, const SourcePlace& place) {
  detail::check_token(options);
  const auto file = Ref<backend::FileHandle>::share(handle);
  backend::FileLockRequest request(*file, kind, patience);
  detail::finish(request, options, place);
  if (!request.take()) {
    FERMATA_ASSERT(patience == backend::FileLockRequest::Patience::Tries);
    return std::nullopt;
  }
  if (file->is_closed()) throw InputOutputError("Stream was closed");
  FERMATA_ASSERT(file->is_locked());
  return FileLock(*file);
}

}  // namespace

File File::open(std::string_view path, const OpenMode& mode, const WaitOptions& options,
                SourcePlace place) {
  detail::check_token(options);
  backend::OpenRequest request(current_runtime().reactor().files(), path, mode);
  detail::finish(request, options, place);
  return File(request.take(), place);
}

std::size_t File::read(std::span<std::byte> buffer, const WaitOptions& options, SourcePlace place) {
  return read_from(handle(), buffer, std::nullopt, options, place);
}

std::size_t File::read_at(std::uint64_t offset, std::span<std::byte> buffer,
                          const WaitOptions& options, SourcePlace place) {
  return read_from(handle(), buffer, offset, options, place);
}

void File::write(std::span<const std::byte> data, const WaitOptions& options, SourcePlace place) {
  write_all(handle(), data, std::nullopt, options, place);
}

void File::write_at(std::uint64_t offset, std::span<const std::byte> data,
                    const WaitOptions& options, SourcePlace place) {
  write_all(handle(), data, offset, options, place);
}

void File::sync(SyncMode mode, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  const backend::FileCall call =
      mode == SyncMode::All ? backend::FileCall::Sync : backend::FileCall::SyncData;
  backend::FileControlRequest request(handle(), call);
  detail::finish(request, options, place);
}

FileStatus File::status(const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::FileControlRequest request(handle(), backend::FileCall::Status);
  detail::finish(request, options, place);
  return request.status();
}

FileLock File::lock(const WaitOptions& options, SourcePlace place) {
  return *lock_of(handle(), backend::FileLockKind::Exclusive,
                  backend::FileLockRequest::Patience::Waits, options, place);
}

FileLock File::lock_shared(const WaitOptions& options, SourcePlace place) {
  return *lock_of(handle(), backend::FileLockKind::Shared,
                  backend::FileLockRequest::Patience::Waits, options, place);
}

std::optional<FileLock> File::try_lock(const WaitOptions& options, SourcePlace place) {
  return lock_of(handle(), backend::FileLockKind::Exclusive,
                 backend::FileLockRequest::Patience::Tries, options, place);
}

std::optional<FileLock> File::try_lock_shared(const WaitOptions& options, SourcePlace place) {
  return lock_of(handle(), backend::FileLockKind::Shared, backend::FileLockRequest::Patience::Tries,
                 options, place);
}

void File::truncate(std::uint64_t size, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::FileControlRequest request(handle(), backend::FileCall::Truncate, size);
  detail::finish(request, options, place);
}

}  // namespace fermata
