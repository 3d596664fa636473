// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/reactor/closed_error.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::backend {

namespace {

std::exception_ptr closed_error(FileCall call) {
  const char* preposition = call == FileCall::Read ? " from" : call == FileCall::Write ? " to" : "";
  return std::make_exception_ptr(
      InputOutputError(fmt::format("Cannot {}{} closed IO handle", to_string(call), preposition)));
}

}  // namespace

// --- requests ---

OpenRequest::OpenRequest(Files& files, std::string_view path, const OpenMode& mode)
    : OpenRequest(make_handle(files, path, mode), mode) {}

Ref<FileHandle> OpenRequest::make_handle(Files& files, std::string_view path,
                                         const OpenMode& mode) {
  require_path(path, to_string(FileCall::Open));
  require_mode(mode);
  return Ref<FileHandle>::adopt(*new FileHandle(files, path, mode));
}

OpenRequest::OpenRequest(Ref<FileHandle> handle, const OpenMode& mode)
    : FileRequest(*handle, FileCall::Open), opened_(std::move(handle)) {
  operation().path = opened_->path();
  operation().mode = mode;
  operation().in_line = true;
  submit();
}

FileReadRequest::FileReadRequest(FileHandle& handle, std::span<std::byte> buffer,
                                 std::optional<std::uint64_t> offset)
    : FileRequest(handle, FileCall::Read),
      file_(Ref<FileHandle>::share(handle)),
      buffer_(buffer.first(std::min(buffer.size(), kTransferMax))) {
  FERMATA_REQUIRE(!buffer.empty(), "read: expected a buffer of at least one byte");
  require_offset(offset.value_or(0), "read");
  operation().in_line = operation().at_position = !offset;
  operation().offset = offset.value_or(0);
  operation().size = buffer_.size();
  operation().bytes = std::make_unique_for_overwrite<std::byte[]>(buffer_.size());
  submit();
}

FileReadRequest::~FileReadRequest() { file_->settle(*this, 0); }

std::size_t FileReadRequest::take() noexcept {
  file_->settle(*this, transferred());
  return transferred();
}

void FileReadRequest::succeeded(FileOperation& operation) {
  FERMATA_ASSERT(operation.done <= buffer_.size());
  std::memcpy(buffer_.data(), operation.bytes.get(), operation.done);
  complete(operation.done);
}

FileWriteRequest::FileWriteRequest(FileHandle& handle, std::span<const std::byte> data,
                                   std::optional<std::uint64_t> offset)
    : FileRequest(handle, FileCall::Write) {
  require_offset(offset.value_or(0), "write");
  data = data.first(std::min(data.size(), kTransferMax));
  operation().in_line = true;
  operation().at_position = !offset;
  operation().offset = offset.value_or(0);
  operation().size = data.size();
  operation().bytes = std::make_unique_for_overwrite<std::byte[]>(data.size());
  if (!data.empty()) std::memcpy(operation().bytes.get(), data.data(), data.size());
  submit();
}

FileControlRequest::FileControlRequest(FileHandle& handle, FileCall call, std::uint64_t length)
    : FileRequest(handle, call) {
  require_offset(length, "truncate");
  operation().in_line = true;
  operation().length = length;
  submit();
}

void FileControlRequest::succeeded(FileOperation& operation) {
  status_ = operation.status;
  complete(0);
}

FileLockRequest::FileLockRequest(FileHandle& handle, FileLockKind kind, Patience patience)
    : FileRequest(handle, FileCall::Lock), file_(Ref<FileHandle>::share(handle)) {
  handle.require_no_lock();
  operation().lock = kind;
  operation().waits = patience == Patience::Waits;
  operation().asked_by = WaitPerson::present();
  submit();
}

FileLockRequest::~FileLockRequest() {
  if (transferred() > 0 && !is_taken_) file_->unlock();
}

std::string FileLockRequest::info() const { return fmt::format("lock of {}", file_->path()); }

bool FileLockRequest::take() noexcept {
  is_taken_ = transferred() > 0;
  return is_taken_;
}

// --- the line ---

FileHandle::FileHandle(Files& files, std::string_view path, const OpenMode& mode)
    : IoHandle(files.attachment_, IoType::File), files_(files), path_(path), mode_(mode) {
  set_name(Name(path));
}

void FileHandle::submit(std::unique_ptr<FileOperation> operation) {
  FERMATA_ASSERT(!operation->begun);
  if (is_closed()) return refuse(*operation, closed_error(operation->call));
  if (operation->call == FileCall::Lock) {
    if (locking_ != nullptr) {
      next_locking_ = std::move(operation);
      return;
    }
    locking_ = operation.get();
  }
  if (!operation->in_line && is_opened()) return begin(std::move(operation));
  line_.push_back(std::move(operation));
  begin_next();
}

/// Tells whoever wanted `operation` that it will not be done.
void FileHandle::refuse(FileOperation& operation, const std::exception_ptr& error) noexcept {
  FERMATA_ASSERT(error != nullptr);
  FERMATA_ASSERT(operation.sink || operation.request != nullptr);
  if (const Ref<StreamHandle> sink = std::move(operation.sink)) {
    sink->file_read(operation, EBADF);
  } else {
    operation.request->ended(error);
  }
}

void FileHandle::begin_next() noexcept {
  while (!line_.empty() && head_ == nullptr && untaken_ == nullptr && !is_closed()) {
    std::unique_ptr<FileOperation> next = std::move(line_.front());
    line_.pop_front();
    begin(std::move(next));
  }
}

void FileHandle::begin(std::unique_ptr<FileOperation> operation) noexcept {
  FileOperation& begun = *operation;
  FERMATA_ASSERT(!is_closed());
  FERMATA_ASSERT(is_opened() == (begun.call != FileCall::Open));
  FERMATA_ASSERT(!begun.in_line || head_ == nullptr);
  FERMATA_ASSERT(!begun.in_line || untaken_ == nullptr);
  if (begun.at_position) begun.offset = position_;
  begun.seeks = seeks_;
  begun.file = file_;
  begun.handle = Ref<FileHandle>::share(*this);
  running_.push_back(&begun);
  if (begun.in_line) head_ = &begun;
  files_.submit(std::move(operation));
}

void FileHandle::abandon(FileOperation& operation) noexcept {
  FERMATA_ASSERT(operation.request == nullptr);
  if (operation.begun) {
    if (operation.done == 0) files_.withdraw(operation);
    return;
  }
  if (next_locking_.get() == &operation) return next_locking_.reset();
  if (locking_ == &operation) locking_ = nullptr;
  std::erase_if(line_, [&](const auto& waiting) { return waiting.get() == &operation; });
}

void FileHandle::ended(std::unique_ptr<FileOperation> operation, int code,
                       std::size_t moved) noexcept {
  FERMATA_ASSERT(operation->begun);
  FERMATA_ASSERT(code >= 0);
  std::erase(running_, operation.get());
  if (head_ == operation.get()) head_ = nullptr;
  const bool was_closed = is_closed();
  if (const Ref<StreamHandle> sink = std::move(operation->sink)) {
    operation->done = moved;
    sink->file_read(*operation, was_closed ? EBADF : code);
    if (!was_closed) return;
  }
  if (operation->call == FileCall::Lock) return lock_ended(*operation, code, moved > 0);
  if (operation->call == FileCall::Write && !written(operation, code, moved)) return;
  if (was_closed) return ended_after_close(*operation, code, moved);
  if (operation->call == FileCall::Open) {
    return opening_ended(std::move(operation), code, moved);
  }
  if (operation->call != FileCall::Write) operation->done = moved;
  if (FileRequest* const request = operation->request) {
    if (operation->call == FileCall::Read && operation->at_position && code == 0) {
      untaken_ = static_cast<FileReadRequest*>(request);
      untaken_seeks_ = operation->seeks;
    }
    request->ended(*operation, code);
  }
  begin_next();
}

/// False when the rest is still to be written.
bool FileHandle::written(std::unique_ptr<FileOperation>& operation, int& code,
                         std::size_t moved) noexcept {
  operation->done += moved;
  FERMATA_ASSERT(operation->done <= operation->size);
  operation->offset += moved;
  const bool stuck = moved == 0 && !operation->rest().empty();
  if (code == 0 && stuck) code = EIO;
  if (code == 0 && !operation->rest().empty()) {
    FERMATA_ASSERT(head_ == nullptr);
    running_.push_back(operation.get());
    head_ = operation.get();
    files_.submit(std::move(operation));
    return false;
  }
  if (operation->at_position) move_position(*operation);
  return true;
}

void FileHandle::opening_ended(std::unique_ptr<FileOperation> operation, int code,
                               std::size_t file) noexcept {
  FERMATA_ASSERT(!is_opened());
  if (code == 0) file_ = static_cast<int>(file);
  FileRequest* const request = operation->request;
  if (code == 0) {
    if (request != nullptr) request->ended(*operation, 0);
    return begin_next();
  }
  const auto error = std::make_exception_ptr(InputOutputError(fmt::format("open {}", path_), code));
  if (request != nullptr) request->ended(error);
  fail_waiting(error);
  close();
}

// --- the lock ---

void FileHandle::require_no_lock() const {
  if (is_closed()) return;  // Which is told otherwise.
  const bool is_wanted =
      next_locking_ != nullptr || (locking_ != nullptr && locking_->request != nullptr);
  if (!is_wanted && !locked_) return;
  throw UsageError(fmt::format("lock: {} {} by this File: expected one lock of a File at a time",
                               path_, locked_ ? "is locked already" : "is waited for already"));
}

void FileHandle::lock_ended(FileOperation& operation, int code, bool granted) noexcept {
  FERMATA_ASSERT(locking_ == &operation);
  FERMATA_ASSERT(!locked_);
  locking_ = nullptr;
  locked_ = granted;
  if (is_closed()) return ended_after_close(operation, code, 0);
  if (operation.request != nullptr) {
    operation.done = granted ? 1 : 0;
    operation.request->ended(operation, code);
  } else {
    unlock();
  }
  if (next_locking_ == nullptr || is_closed()) return;
  locking_ = next_locking_.get();
  begin(std::move(next_locking_));
}

void FileHandle::unlock() noexcept {
  FERMATA_ASSERT(!locked_ || is_opened());
  if (std::exchange(locked_, false)) files_.unlock(file_);
}

// --- the position ---

std::uint64_t FileHandle::position() const {
  if (is_closed()) throw InputOutputError("Cannot tell the position of closed IO handle");
  return position_;
}

void FileHandle::seek(std::uint64_t position) {
  require_offset(position, "seek");
  if (is_closed()) throw InputOutputError("Cannot seek closed IO handle");
  position_ = position;
  ++seeks_;
}

void FileHandle::move_position(const FileOperation& operation) noexcept {
  if (!mode_.append && operation.seeks == seeks_) position_ = operation.offset;
}

void FileHandle::settle(FileReadRequest& reader, std::size_t accepted) noexcept {
  if (untaken_ != &reader) return;
  FERMATA_ASSERT(accepted <= reader.transferred());
  FERMATA_ASSERT(head_ == nullptr);
  untaken_ = nullptr;
  if (untaken_seeks_ == seeks_) position_ += accepted;
  begin_next();
}

// --- closing ---

void FileHandle::fail_parked() {
  FERMATA_ASSERT(is_closed());
  detail::ParkedError error;
  untaken_ = nullptr;
  for (FileOperation* operation : running_) {
    if (operation->request != nullptr) {
      std::exchange(operation->request, nullptr)->ended(error.get());
    }
  }
  if (!line_.empty() || next_locking_ != nullptr) fail_waiting(error.get());
}

void FileHandle::fail_waiting(const std::exception_ptr& error) noexcept {
  while (!line_.empty()) {
    const std::unique_ptr<FileOperation> waiting = std::move(line_.front());
    line_.pop_front();
    if (waiting.get() == locking_) locking_ = nullptr;
    refuse(*waiting, error);
  }
  if (const auto waiting = std::move(next_locking_)) refuse(*waiting, error);
}

void FileHandle::close_backend() noexcept {
  FERMATA_ASSERT(line_.empty());
  FERMATA_ASSERT(untaken_ == nullptr);
  for (FileOperation* operation : running_) {
    if (operation->done == 0) files_.withdraw(*operation);
  }
  if (running_.empty()) close_file();
}

void FileHandle::close_file() noexcept {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(running_.empty());
  if (!is_opened()) return close_acknowledged();
  unlock();  // Now: the close may take its time, and a child of fork() may have the file open.
  auto closing = std::make_unique<FileOperation>(FileCall::Close);
  closing->file = file_;
  closing->handle = Ref<FileHandle>::share(*this);
  files_.submit(std::move(closing));
}

void FileHandle::ended_after_close(const FileOperation& operation, int code,
                                   std::size_t file) noexcept {
  FERMATA_ASSERT(is_closed());
  FERMATA_ASSERT(operation.call != FileCall::Close || running_.empty());
  if (operation.call == FileCall::Close) return close_acknowledged();
  if (operation.call == FileCall::Open && code == 0) file_ = static_cast<int>(file);
  if (running_.empty()) close_file();
}

}  // namespace fermata::backend
