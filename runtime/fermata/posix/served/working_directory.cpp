// SPDX-License-Identifier: Apache-2.0

// The working directory, and paths without links.

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fermata/posix/served/process_memory.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::allocate_for_process;
using fermata::posix::answer;
using fermata::posix::at;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::link_at;
using fermata::posix::open_as;

namespace {

char* fail(int code) noexcept {
  errno = code;
  return nullptr;
}

/// Copies `text` to `buffer`, or to new memory when there is none.
char* give(const std::string& text, char* buffer, size_t size) noexcept {
  if (buffer == nullptr) buffer = static_cast<char*>(allocate_for_process(size));
  if (buffer != nullptr) std::memcpy(buffer, text.c_str(), text.size() + 1);
  return buffer;
}

char* working_directory(Files& files, char* buffer, size_t size) {
  std::string path;
  if (const int code = files.current_directory(path)) return fail(-code);
  if (buffer != nullptr && size == 0) return fail(EINVAL);
  if (size == 0) size = path.size() + 1;
  if (path.size() >= size) return fail(ERANGE);
  return give(path, buffer, size);
}

/// Takes the first part of `path`.
std::string take_part(std::string& path) {
  const std::size_t begin = std::min(path.find_first_not_of('/'), path.size());
  const std::size_t end = std::min(path.find('/', begin), path.size());
  std::string part = path.substr(begin, end - begin);
  path.erase(0, end);
  return part;
}

/// The path of what `path` leads to, without links: 0, or a negative errno.
int resolve(Files& files, std::string path, std::string& resolved) {
  constexpr int kMostLinks = 40;
  int links = 0;
  if (path[0] != '/') {
    if (const int code = files.current_directory(resolved)) return code;
  }
  if (resolved == "/" || path[0] == '/') resolved.clear();
  while (!path.empty()) {
    const std::string part = take_part(path);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      resolved.erase(std::min(resolved.rfind('/'), resolved.size()));
      continue;
    }
    const std::string next = resolved + '/' + part;
    if (next.size() >= PATH_MAX) return -ENAMETOOLONG;
    std::string target(PATH_MAX, '\0');
    const ssize_t size = files.read_link(at(next.c_str()), {target.data(), target.size()});
    if (size < 0 && size != -EINVAL) return static_cast<int>(size);
    if (size >= 0) {
      if (++links > kMostLinks) return -ELOOP;
      target.resize(static_cast<std::size_t>(size));
      if (target[0] == '/') resolved.clear();
      path.insert(0, target);
      continue;
    }
    struct stat status = {};
    if (!path.empty()) {  // Only a directory has something in it.
      if (const int code = files.status(link_at(next.c_str()), status)) return code;
      if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    }
    resolved = next;
  }
  if (resolved.empty()) resolved = "/";
  return 0;
}

char* real_path(Files& files, const char* path, char* buffer) {
  if (path == nullptr) return fail(EINVAL);
  if (path[0] == '\0') return fail(ENOENT);
  std::string resolved;
  if (const int code = resolve(files, path, resolved)) return fail(-code);
  return give(resolved, buffer, resolved.size() + 1);
}

}  // namespace

extern "C" {

char* __getcwd_chk(char* buffer, size_t size, size_t room);
char* __realpath_chk(const char* path, char* buffer, size_t room);

char* getcwd(char* buffer, size_t size) noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(getcwd)(buffer, size)
                          : working_directory(*files, buffer, size);
}

char* __getcwd_chk(char* buffer, size_t size, size_t room) {
  Files* const files = files_for(__builtin_return_address(0));
  const bool is_served = files != nullptr && size <= room;
  return is_served ? working_directory(*files, buffer, size)
                   : FERMATA_REAL(__getcwd_chk)(buffer, size, room);
}

char* get_current_dir_name() noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(get_current_dir_name)()
                          : working_directory(*files, nullptr, 0);
}

FERMATA_FILE(int, chdir, (const char* path), (path), noexcept, files->change_directory(at(path)))
FERMATA_FILE(int, fchdir, (int descriptor), (descriptor), noexcept,
             files->change_directory(open_as(descriptor)))

char* realpath(const char* path, char* buffer) noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(realpath)(path, buffer) : real_path(*files, path, buffer);
}

char* __realpath_chk(const char* path, char* buffer, size_t room) {
  Files* const files = files_for(__builtin_return_address(0));
  const bool is_served = files != nullptr && room >= PATH_MAX;
  return is_served ? real_path(*files, path, buffer)
                   : FERMATA_REAL(__realpath_chk)(path, buffer, room);
}

char* canonicalize_file_name(const char* path) noexcept {
  Files* const files = files_for(__builtin_return_address(0));
  return files == nullptr ? FERMATA_REAL(canonicalize_file_name)(path)
                          : real_path(*files, path, nullptr);
}

}  // extern "C"
