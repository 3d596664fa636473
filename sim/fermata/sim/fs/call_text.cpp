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

}  // namespace

std::string written_text(std::span<const std::byte> bytes, std::string_view path) {
  return fmt::format("writes \"{}\" to {}", printable(bytes, bytes.size(), kBytesShown),
                     path_text(path));
}

std::string read_text(std::span<const std::byte> bytes) {
  return fmt::format(": \"{}\"", printable(bytes, bytes.size(), kBytesShown));
}

std::string short_write_text(std::size_t moved, std::size_t size) {
  return moved < size ? fmt::format(" ({} of {} bytes)", moved, size) : "";
}

std::string call_text(const backend::FileOperation& operation) {
  const std::string_view called =
      operation.handle ? operation.handle->path() : std::string_view(operation.path);
  const std::string path = path_text(called);
  switch (operation.call) {
    case backend::FileCall::Read:
      return "reads " + path;
    case backend::FileCall::Write:
      return written_text(operation.rest(), called);
    case backend::FileCall::Sync:
    case backend::FileCall::SyncData:
      return "syncs " + path;
    case backend::FileCall::Status:
    case backend::FileCall::PathStatus:
      return "looks up the status of " + path;
    case backend::FileCall::Truncate:
      return fmt::format("truncates {} to {} bytes", path, operation.length);
    case backend::FileCall::Lock:
      return fmt::format("locks {}{}", path,
                         operation.lock == backend::FileLockKind::Shared ? " with others" : "");
    case backend::FileCall::Close:
      return "closes " + path;
    case backend::FileCall::Open:
      return "opens " + path;
    case backend::FileCall::Rename:
      return fmt::format("renames {} to {}", path, path_text(operation.target));
    case backend::FileCall::Link:
      return fmt::format("links {} to {}", path, path_text(operation.target));
    case backend::FileCall::Remove:
      return "removes " + path;
    case backend::FileCall::MakeDirectory:
      return "makes directory " + path;
    case backend::FileCall::RemoveDirectory:
      return "removes directory " + path;
    case backend::FileCall::ListDirectory:
      return "lists directory " + path;
    case backend::FileCall::SyncDirectory:
      return "syncs directory " + path;
  }
  FERMATA_ASSERT(false);
  return {};
}

std::string answer_text(const backend::FileOperation& operation, int code, std::size_t moved) {
  if (code != 0) return fmt::format(" ({})", std::strerror(code));
  if (operation.call == backend::FileCall::Lock && moved == 0) return " (another has it)";
  if (operation.call != backend::FileCall::Read && operation.call != backend::FileCall::Write)
    return {};
  const std::span<const std::byte> bytes = operation.rest();
  FERMATA_ASSERT(moved <= bytes.size());
  if (operation.call == backend::FileCall::Read) return read_text(bytes.first(moved));
  return short_write_text(moved, bytes.size());
}

}  // namespace fermata::sim::detail
