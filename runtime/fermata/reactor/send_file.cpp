// SPDX-License-Identifier: Apache-2.0

// Sending a part of a file: a step on the file's side, which may send some bytes itself and brings
// others here; the latter are written; then the next step.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/reactor/file_part.hpp"

namespace fermata::backend {

namespace {

/// What one step brings here, at most.
constexpr std::uint64_t kPiece = 64 * 1024;

/// What one step sends, at most: whoever closes the stream has to wait for it.
constexpr std::uint64_t kStep = 16 * 1024 * 1024;

}  // namespace

WriteRequest::WriteRequest(StreamHandle& stream, FileHandle& file, std::uint64_t offset,
                           std::uint64_t length)
    : Request(stream.runtime(), "send file"), stream_(Ref<StreamHandle>::share(stream)) {
  stream.require_writable("send file");
  require_offset(offset, "send file");
  length = std::min({length, std::uint64_t{kTransferMax}, kOffsetMax - offset});
  auto part = std::make_unique<StreamHandle::FilePart>();
  *part = {Ref<FileHandle>::share(file), offset, length, 0};
  stream.send_file(*this, std::move(part));
}

void StreamHandle::send_file(WriteRequest& request, std::unique_ptr<FilePart> part) {
  FERMATA_ASSERT(part != nullptr);
  if (is_closed()) {
    return request.fail(
        std::make_exception_ptr(InputOutputError("Cannot write to closed IO handle")));
  }
  if (write_shut_) return request.fail(file_error(*part, EPIPE));
  if (write_code_ != 0) return request.fail(file_error(*part, write_code_));
  if (part->left == 0) return request.complete(0);
  submit({nullptr, 0, 0, &request, std::move(part)});
}

void StreamHandle::read_file() {
  FERMATA_ASSERT(!reading_file_);
  FERMATA_ASSERT(writes_.front().part != nullptr);
  const FilePart& part = *writes_.front().part;
  FERMATA_ASSERT(part.left > 0);
  auto step = std::make_unique<FileOperation>(FileCall::Read);
  step->offset = part.offset;
  step->length = std::min(part.left, kStep);
  step->size = static_cast<std::size_t>(std::min(part.left, kPiece));
  step->bytes = std::make_unique_for_overwrite<std::byte[]>(step->size);
  step->sink = Ref<StreamHandle>::share(*this);
  step->sink_descriptor = file_target();
  reading_file_ = true;
  part.file->submit(std::move(step));
}

void StreamHandle::file_read(FileOperation& operation, int code) {
  FERMATA_ASSERT(reading_file_);
  reading_file_ = false;
  if (is_closed()) return file_target_free();
  FERMATA_ASSERT(!writes_.empty());
  FERMATA_ASSERT(writes_.front().part != nullptr);
  FERMATA_ASSERT(operation.done <= operation.size);
  PendingWrite& write = writes_.front();
  FilePart& part = *write.part;
  part.advance(operation.sent);
  if (code != 0) return end_file_part(file_error(part, code));
  if (operation.done > 0) {
    write.bytes = std::move(operation.bytes);
    write.size = operation.done;
    return submit_next_write();
  }
  const bool at_end = operation.sent < operation.length;
  if (at_end || part.left == 0) return end_file_part(nullptr);
  read_file();
}

void StreamHandle::file_part_written() {
  FERMATA_ASSERT(!reading_file_);
  PendingWrite& write = writes_.front();
  write.part->advance(std::exchange(write.size, 0));
  if (write.part->left == 0) return end_file_part(nullptr);
  read_file();
}

void StreamHandle::end_file_part(std::exception_ptr error) {
  FERMATA_ASSERT(writes_.front().part != nullptr);
  const bool nobody_is_told = error != nullptr && writes_.front().request == nullptr;
  if (nobody_is_told) return fail_writes(ECANCELED);
  const PendingWrite ended = end_write();
  if (ended.request == nullptr) return;
  if (error) {
    ended.request->fail(std::move(error));
  } else {
    ended.request->complete(static_cast<std::size_t>(ended.part->sent));
  }
}

std::exception_ptr StreamHandle::file_error(const FilePart& part, int code) {
  return std::make_exception_ptr(SendFileError(part.file->path(), part.sent, code));
}

}  // namespace fermata::backend
