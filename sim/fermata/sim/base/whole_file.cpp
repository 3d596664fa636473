// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::sim {
namespace {

/// Returns what went wrong, as errno has it; 0 when nothing did.
int write_all(int file, std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = os::kernel.write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      FERMATA_ASSERT(static_cast<std::size_t>(written) <= bytes.size());
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

void write_whole_file(const std::string& path, std::string_view text, std::string_view what) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  int error = file < 0 ? errno : write_all(file, text);
  // Some file systems tell only now.
  if (file >= 0 && os::kernel.close(file) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error == 0) return;
  FERMATA_ASSERT(error > 0);
  std::error_code ignored;
  if (file >= 0 && std::filesystem::is_regular_file(path, ignored)) {
    std::filesystem::remove(path, ignored);
  }
  throw InputOutputError(fmt::format("cannot write {}{}", what, path), error);
}

std::string whole_file(const std::string& path) {
  constexpr std::size_t kFirstStep = 4096;
  FERMATA_ASSERT(!path.empty());
  std::string text;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  struct stat status = {};
  if (os::kernel.fstat(file, &status) == 0 && status.st_size > 0) {
    text.resize(static_cast<std::size_t>(status.st_size) + 1);  // One more byte, to see its end.
  }
  std::size_t size = 0;
  for (ssize_t count = 1; count > 0 || (count < 0 && errno == EINTR);) {
    if (text.size() == size) text.resize(size + std::max(size, kFirstStep));
    count = os::kernel.read(file, text.data() + size, text.size() - size);
    if (count > 0) size += static_cast<std::size_t>(count);
    FERMATA_ASSERT(size <= text.size());
  }
  os::kernel.close(file);
  text.resize(size);
  return text;
}

}  // namespace fermata::sim
