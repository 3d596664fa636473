// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/fs/call_text.hpp"

#include <fmt/format.h>

#include <cstring>
#include <span>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/reactor/file.hpp"
#include "fermata/reactor/file_operation.hpp"
#include "fermata/sim/base/printable.hpp"

namespace fermata::sim::detail {
namespace {

constexpr std::size_t kBytesShown = 32;

/// The path as the program calls it, in quotes.
std::string path_text(std::string_view path) {
  if (path.starts_with("./")) path.remove_prefix(2);
  return fmt::format("'{}'", path);
}

std::string written(const FileOperation& operation) {
  const std::span<const std::byte> bytes = operation.rest();
  return fmt::format("writes \"{}\"", printable(bytes, bytes.size(), kBytesShown));
}

}  // namespace

std::string call_text(const FileOperation& operation) {
  const std::string path =
      path_text(operation.handle ? operation.handle->path() : std::string_view(operation.path));
  switch (operation.call) {
    case FileCall::Read:
      return "reads " + path;
    case FileCall::Write:
      return written(operation) + " to " + path;
    case FileCall::Sync:
    case FileCall::SyncData:
      return "syncs " + path;
    case FileCall::Status:
    case FileCall::PathStatus:
      return "looks up the status of " + path;
    case FileCall::Truncate:
      return fmt::format("truncates {} to {} bytes", path, operation.length);
    case FileCall::Close:
      return "closes " + path;
    case FileCall::Open:
      return "opens " + path;
    case FileCall::Rename:
      return fmt::format("renames {} to {}", path, path_text(operation.target));
    case FileCall::Remove:
      return "removes " + path;
    case FileCall::MakeDirectory:
      return "makes directory " + path;
    case FileCall::RemoveDirectory:
      return "removes directory " + path;
    case FileCall::ListDirectory:
      return "lists directory " + path;
    case FileCall::SyncDirectory:
      return "syncs directory " + path;
  }
  FERMATA_ASSERT(false);
  return {};
}

std::string answer_text(const FileOperation& operation, int code, std::size_t moved) {
  if (code != 0) return fmt::format(" ({})", std::strerror(code));
  if (operation.call != FileCall::Read && operation.call != FileCall::Write) return {};
  const std::span<const std::byte> bytes = operation.rest();
  FERMATA_ASSERT(moved <= bytes.size());
  if (operation.call == FileCall::Read) {
    return fmt::format(": \"{}\"", printable(bytes.first(moved), moved, kBytesShown));
  }
  return moved < bytes.size() ? fmt::format(" ({} of {} bytes)", moved, bytes.size()) : "";
}

}  // namespace fermata::sim::detail
