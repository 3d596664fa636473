// SPDX-License-Identifier: Apache-2.0

// Steps that concern names of files and what is known of them, and locks.

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/file_script.hpp"

namespace fermata::test {

namespace {

/// Without what file systems may have their own way with: directories' sizes and links.
std::string status_text(const struct stat& status) {
  std::string text = fmt::format("0{:o}", status.st_mode);
  if (S_ISDIR(status.st_mode)) return text;
  return text + fmt::format(" {} bytes, {} names", status.st_size, status.st_nlink);
}

/// Behind the directory that the script runs in.
std::string below(std::string_view path) {
  constexpr std::string_view kPlace = "/files";
  const std::size_t at = path.find(kPlace);
  return std::string(at == std::string_view::npos ? path : path.substr(at + kPlace.size()));
}

}  // namespace

Answer tell_status(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const bool follows = step.choice(1, 2) == 0;
  struct stat status = {};
  const int result = follows ? ::stat(path, &status) : ::lstat(path, &status);
  return {fmt::format("{}('{}')", follows ? "stat" : "lstat", path),
          result_with(result, [&] { return status_text(status); })};
}

Answer tell_status_of_file(Run& run, const Step& step) {
  struct stat status = {};
  const int result = ::fstat(run[step.first], &status);
  return {fmt::format("fstat(${})", step.first),
          result_with(result, [&] { return status_text(status); })};
}

Answer tell_access(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const int mode = step.one_of<int>(1, {F_OK, R_OK, W_OK, X_OK, 9});
  return {fmt::format("access('{}', {})", path, mode), result_of(::access(path, mode))};
}

Answer change_mode(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const mode_t mode = step.one_of<mode_t>(1, {0644, 0755, 0700, 04755, 01777});
  return {fmt::format("chmod('{}', 0{:o})", path, mode), result_of(::chmod(path, mode))};
}

Answer change_times(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const std::array<timespec, 2> times = {
      timespec{1000, step.one_of<long>(1, {5, UTIME_OMIT, 2'000'000'000})},
      timespec{2000, step.one_of<long>(2, {7, 7, -1})}};
  const int flags = step.one_of<int>(3, {0, AT_SYMLINK_NOFOLLOW});
  const int result = ::utimensat(AT_FDCWD, path, times.data(), flags);
  struct stat status = {};
  static_cast<void>(::fstatat(AT_FDCWD, path, &status, flags));
  return {fmt::format("utimensat('{}', {}, {})", path, times[0].tv_nsec, times[1].tv_nsec),
          result_with(result, [&] {
            return fmt::format("{}.{}", status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
          })};
}

Answer remove_path(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  switch (step.choice(1, 3)) {
    case 0:
      return {fmt::format("unlink('{}')", path), result_of(::unlink(path))};
    case 1:
      return {fmt::format("rmdir('{}')", path), result_of(::rmdir(path))};
    default:
      return {fmt::format("remove('{}')", path), result_of(std::remove(path))};
  }
}

Answer make_directory(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const mode_t mode = step.one_of<mode_t>(1, {0755, 0777, 0700});
  return {fmt::format("mkdir('{}', 0{:o})", path, mode), result_of(::mkdir(path, mode))};
}

Answer rename_path(Run&, const Step& step) {
  const char* const from = path_of(step, 0);
  const char* const to = path_of(step, 1);
  const unsigned flags = step.one_of<unsigned>(2, {0, 0, 0, RENAME_NOREPLACE, 99});
  const int result =
      flags == 0 ? ::rename(from, to) : ::renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
  return {fmt::format("rename('{}', '{}', {})", from, to, flags), result_of(result)};
}

Answer link_path(Run&, const Step& step) {
  const char* const from = path_of(step, 0);
  const char* const to = path_of(step, 1);
  const int flags = step.one_of<int>(2, {0, AT_SYMLINK_FOLLOW});
  return {fmt::format("linkat('{}', '{}', {:#x})", from, to, flags),
          result_of(::linkat(AT_FDCWD, from, AT_FDCWD, to, flags))};
}

Answer make_link(Run&, const Step& step) {
  const char* const target = step.one_of(0, {"a", "d", "d/e", "none", "l", "d/..", "./d", ""});
  const char* const path = step.one_of(1, {"l", "l", "d/l", "a", "b", "l/"});
  return {fmt::format("symlink('{}', '{}')", target, path), result_of(::symlink(target, path))};
}

Answer read_link(Run&, const Step& step) {
  std::array<char, 10> room{};
  const char* const path = path_of(step, 0);
  const std::size_t size = step.one_of<std::size_t>(1, {10, 2});
  const ssize_t read = ::readlink(path, room.data(), size);
  return {fmt::format("readlink('{}', {})", path, size), result_with(read, [&] {
            return bytes_text({room.data(), static_cast<std::size_t>(read)});
          })};
}

Answer list_directory(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const std::string call = fmt::format("opendir('{}')", path);
  DIR* const stream = ::opendir(path);
  if (stream == nullptr) return {call, result_of(-1)};
  std::set<std::string> names;
  while (const dirent* const entry = ::readdir(stream)) {
    names.insert(fmt::format("{}:{}", static_cast<const char*>(entry->d_name), entry->d_type));
  }
  std::string text;
  for (const std::string& each : names) text += each + " ";
  ::closedir(stream);
  return {call, text};
}

Answer change_directory(Run& run, const Step& step) {
  const bool by_path = step.choice(0, 2) == 0;
  const char* const path = path_of(step, 1);
  const int result = by_path ? ::chdir(path) : ::fchdir(run[step.first]);
  std::array<char, PATH_MAX> room{};
  const char* const now = ::getcwd(room.data(), room.size());
  return {by_path ? fmt::format("chdir('{}')", path) : fmt::format("fchdir(${})", step.first),
          result_of(result) + " in " + (now == nullptr ? result_of(-1) : below(now))};
}

Answer resolve_path(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  std::array<char, PATH_MAX> room{};
  const char* const found = ::realpath(path, room.data());
  return {fmt::format("realpath('{}')", path), found == nullptr ? result_of(-1) : below(found)};
}

Answer lock_range(Run& run, const Step& step) {
  struct flock lock = {};
  const int command =
      step.one_of<int>(0, {F_SETLK, F_OFD_SETLK, F_OFD_SETLK, F_OFD_SETLKW, F_GETLK, F_OFD_GETLK});
  lock.l_type = step.one_of<short>(1, {F_RDLCK, F_WRLCK, F_WRLCK, F_UNLCK, 9});
  lock.l_whence = step.one_of<short>(2, {SEEK_SET, SEEK_CUR, SEEK_END, 9});
  lock.l_start = step.one_of<off_t>(3, {0, 0, 3, 10, -1});
  lock.l_len = step.one_of<off_t>(4, {0, 1, 5, -2});
  const std::string call = fmt::format("fcntl(${}, {}, type {}, {}+{}+{})", step.first, command,
                                       lock.l_type, lock.l_whence, lock.l_start, lock.l_len);
  // Nothing may wait.
  const int safe = command == F_OFD_SETLKW ? F_OFD_SETLK : command;
  const int result = ::fcntl(run[step.first], safe, &lock);
  return {call, result_with(result, [&] {
            if (lock.l_type == F_UNLCK) return fmt::format("type {}", lock.l_type);
            return fmt::format("type {}, {}+{}+{}", lock.l_type, lock.l_whence, lock.l_start,
                               lock.l_len);
          })};
}

Answer lock_file(Run& run, const Step& step) {
  const int operation = step.one_of<int>(0, {LOCK_SH, LOCK_EX, LOCK_EX, LOCK_UN, 0});
  return {fmt::format("flock(${}, {})", step.first, operation),
          result_of(::flock(run[step.first], operation | LOCK_NB))};
}

}  // namespace fermata::test
