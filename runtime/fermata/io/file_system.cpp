// SPDX-License-Identifier: Apache-2.0
#include "fermata/io/file_system.hpp"

#include <algorithm>

#include "fermata/io/file.hpp"
#include "fermata/io/request_wait.hpp"

namespace fermata::fs {

namespace {

/// What is asked for at a time, at least.
constexpr std::size_t kReadSize = 64 * 1024;

backend::Files& files() { return current_runtime().reactor().files(); }

void ask(backend::FileCall call, std::string_view path, const WaitOptions& options,
         const SourcePlace& place) {
  detail::check_token(options);
  backend::PathRequest request(files(), call, path);
  detail::finish(request, options, place);
}

}  // namespace

FileStatus status(std::string_view path, const WaitOptions& options, SourcePlace place) {
  detail::check_token(options);
  backend::PathRequest request(files(), backend::FileCall::PathStatus, path);
  detail::finish(request, options, place);
  return request.status();
}

void rename(std::string_view from, std::string_view to, const WaitOptions& options,
            SourcePlace place) {
  detail::check_token(options);
  backend::PathRequest request = backend::PathRequest::rename(files(), from, to);
  detail::finish(request, options, place);
}

void link(std::string_view existing, std::string_view name, const WaitOptions& options,
          SourcePlace place) {
  detail::check_token(options);
  backend::PathRequest request = backend::PathRequest::link(files(), existing, name);
  detail::finish(request, options, place);
}

void remove(std::string_view path, const WaitOptions& options, SourcePlace place) {
  ask(backend::FileCall::Remove, path, options, place);
}

void make_directory(std::string_view path, std::uint32_t permissions, const WaitOptions& options,
                    SourcePlace place) {
  detail::check_token(options);
  backend::PathRequest request = backend::PathRequest::make_directory(files(), path, permissions);
  detail::finish(request, options, place);
}

void remove_directory(std::string_view path, const WaitOptions& options, SourcePlace place) {
  ask(backend::FileCall::RemoveDirectory, path, options, place);
}

std::vector<DirectoryEntry> list_directory(std::string_view path, const WaitOptions& options,
                                           SourcePlace place) {
  detail::check_token(options);
  backend::PathRequest request(files(), backend::FileCall::ListDirectory, path);
  detail::finish(request, options, place);
  return request.take_entries();
}

void sync_directory(std::string_view path, const WaitOptions& options, SourcePlace place) {
  ask(backend::FileCall::SyncDirectory, path, options, place);
}

std::string read_file(std::string_view path, const WaitOptions& options, SourcePlace place) {
  const detail::Deadline deadline(options);
  File file = File::open(path, OpenMode::reading(), deadline.remaining(), place);
  std::string text;
  for (std::size_t done = 0;;) {
    if (text.size() - done < kReadSize) text.resize(done + std::max(done, kReadSize));
    const auto room = std::as_writable_bytes(std::span(text)).subspan(done);
    const std::size_t size = file.read(room, deadline.remaining(), place);
    done += size;
    if (size == 0) {
      text.resize(done);
      return text;
    }
  }
}

void write_file(std::string_view path, std::span<const std::byte> data, const WaitOptions& options,
                SourcePlace place) {
  const detail::Deadline deadline(options);
  File file = File::open(path, OpenMode::writing(), deadline.remaining(), place);
  file.write(data, deadline.remaining(), place);
}

}  // namespace fermata::fs
