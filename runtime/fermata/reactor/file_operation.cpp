// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/file_operation.hpp"

#include <fmt/format.h>

#include "fermata/base/error.hpp"
#include "fermata/reactor/file.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::backend {

namespace {
constexpr std::uint32_t kPermissionsMax = 07777;
}  // namespace

FileOperation::FileOperation(FileCall c) noexcept : call(c) {}
FileOperation::~FileOperation() = default;

const char* to_string(FileCall call) noexcept {
  switch (call) {
    case FileCall::Read:
      return "read";
    case FileCall::Write:
      return "write";
    case FileCall::Sync:
    case FileCall::SyncData:
      return "sync";
    case FileCall::Status:
    case FileCall::PathStatus:
      return "stat";
    case FileCall::Truncate:
      return "truncate";
    case FileCall::Lock:
      return "lock";
    case FileCall::Close:
      return "close";
    case FileCall::Open:
      return "open";
    case FileCall::Rename:
      return "rename";
    case FileCall::Link:
      return "link";
    case FileCall::Remove:
      return "remove";
    case FileCall::MakeDirectory:
      return "make directory";
    case FileCall::RemoveDirectory:
      return "remove directory";
    case FileCall::ListDirectory:
      return "list directory";
    case FileCall::SyncDirectory:
      return "sync directory";
  }
  return "file operation";
}

void require_path(std::string_view path, const char* operation) {
  if (path.empty()) {
    throw UsageError(fmt::format("{}: the path is empty: expected a name", operation));
  }
  if (path.size() > kPathMax) {
    throw UsageError(fmt::format("{}: a path of {} bytes: expected at most {}", operation,
                                 path.size(), kPathMax));
  }
  if (const std::size_t at = path.find('\0'); at != std::string_view::npos) {
    throw UsageError(fmt::format("{}: path '{}': byte {} is NUL: expected none", operation,
                                 path.substr(0, at), at));
  }
}

void require_permissions(std::uint32_t permissions, FileCall call) {
  if (permissions > kPermissionsMax) {
    throw UsageError(fmt::format("{}: permissions 0{:o}: expected at most 0{:o}", to_string(call),
                                 permissions, kPermissionsMax));
  }
}

void require_offset(std::uint64_t offset, const char* operation) {
  if (offset > kOffsetMax) {
    throw UsageError(
        fmt::format("{}: offset {}: expected at most {}", operation, offset, kOffsetMax));
  }
}

void require_mode(const OpenMode& mode) {
  const auto require = [](bool condition, const char* text) {
    if (!condition) throw UsageError(fmt::format("open: {}", text));
  };
  require(mode.read || mode.write, "the mode neither reads nor writes: expected one of them");
  require(mode.write || !mode.create, "the mode creates: expected it to write");
  require(mode.write || !mode.truncate, "the mode truncates: expected it to write");
  require(mode.write || !mode.append, "the mode appends: expected it to write");
  require(mode.create || !mode.exclusive, "the mode is exclusive: expected it to create");
  require_permissions(mode.permissions, FileCall::Open);
}

}  // namespace fermata::backend
