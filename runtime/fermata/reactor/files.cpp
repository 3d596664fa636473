// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/wait_facts.hpp"
#include "fermata/reactor/file.hpp"

namespace fermata::backend {

namespace {

std::string description(const FileOperation& operation, const FileHandle* handle) {
  std::string text = fmt::format("{} {}", to_string(operation.call),
                                 handle != nullptr ? handle->path() : operation.path);
  if (!operation.target.empty()) text += " to " + operation.target;
  return text;
}

}  // namespace

// --- FileRequest ---

FileRequest::FileRequest(Files& files, FileCall call)
    : Request(files.attachment_.runtime(), to_string(call)),
      files_(files),
      unsubmitted_(std::make_unique<FileOperation>(call)),
      operation_(unsubmitted_.get()) {
  operation_->request = this;
}

FileRequest::FileRequest(FileHandle& handle, FileCall call) : FileRequest(handle.files_, call) {
  handle_ = Ref<FileHandle>::share(handle);
}

FileRequest::~FileRequest() {
  if (is_completed() || unsubmitted_) return;
  FERMATA_ASSERT(operation_ != nullptr);
  operation_->request = nullptr;
  if (handle_) {
    handle_->abandon(*operation_);
  } else {
    files_.withdraw(*operation_);
  }
}

void FileRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  const bool known = operation_ != nullptr && !operation_->path.empty();
  facts.is(Request::operation(),
           known     ? operation_->path
           : handle_ ? handle_->path()
                     : std::string(),
           nullptr);
  const bool is_begun = operation_ != nullptr && operation_->begun;
  if (operation_ != nullptr && handle_ && !is_begun) facts.state("in line at its file");
  if (is_begun && operation_->call == FileCall::Lock)
    return files_.explain_lock(*operation_, facts);
  facts.outside("the disk");
}

void Files::explain_lock(const FileOperation&, WaitFacts& facts) const {
  facts.outside("whoever has the lock");
}

void FileRequest::submit() {
  FERMATA_ASSERT(unsubmitted_ != nullptr);
  if (handle_) {
    handle_->submit(std::move(unsubmitted_));
  } else {
    files_.submit(std::move(unsubmitted_));
  }
}

void FileRequest::ended(FileOperation& operation, int code) noexcept {
  FERMATA_ASSERT(operation_ == &operation);
  FERMATA_ASSERT(code >= 0);
  if (code != 0) {
    return ended(
        std::make_exception_ptr(InputOutputError(description(operation, handle_.get()), code)));
  }
  operation_ = nullptr;
  succeeded(operation);
}

void FileRequest::ended(std::exception_ptr error) noexcept {
  FERMATA_ASSERT(error != nullptr);
  operation_ = nullptr;
  fail(std::move(error));
}

// --- PathRequest ---

PathRequest::PathRequest(Files& files, FileCall call, std::string_view path)
    : PathRequest(files, call, path, {}, 0) {}

PathRequest::PathRequest(Files& files, FileCall call, std::string_view path,
                         std::string_view target, std::uint32_t permissions)
    : FileRequest(files, call) {
  require_path(path, to_string(call));
  operation().path = path;
  operation().target = target;
  operation().mode.permissions = permissions;
  submit();
}

PathRequest PathRequest::rename(Files& files, std::string_view from, std::string_view to) {
  require_path(to, to_string(FileCall::Rename));
  return {files, FileCall::Rename, from, to, 0};
}

PathRequest PathRequest::link(Files& files, std::string_view from, std::string_view to) {
  require_path(to, to_string(FileCall::Link));
  return {files, FileCall::Link, from, to, 0};
}

PathRequest PathRequest::make_directory(Files& files, std::string_view path,
                                        std::uint32_t permissions) {
  require_permissions(permissions, FileCall::MakeDirectory);
  return {files, FileCall::MakeDirectory, path, {}, permissions};
}

void PathRequest::succeeded(FileOperation& operation) {
  status_ = operation.status;
  entries_ = std::move(operation.entries);
  std::sort(entries_.begin(), entries_.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  complete(0);
}

// --- Files ---

void Files::submit(std::unique_ptr<FileOperation> operation) noexcept {
  FileOperation& submitted = *operation.release();
  submitted.begun = true;
  ++in_flight_;
  if (const int code = enqueue(submitted); code != 0) finished(submitted, code);
}

void Files::finished(FileOperation& operation, int code, std::size_t moved) noexcept {
  FERMATA_ASSERT(operation.begun);
  FERMATA_ASSERT(in_flight_ > 0);
  std::unique_ptr<FileOperation> done(&operation);
  --in_flight_;
  if (const Ref<FileHandle> handle = done->handle) {
    handle->ended(std::move(done), code, moved);
  } else if (done->request != nullptr) {
    done->request->ended(*done, code);
  }
}

}  // namespace fermata::backend
