// SPDX-License-Identifier: Apache-2.0

// Steps that open, read and write files.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <utility>

#include "tests/posix/scripts/answers.hpp"
#include "tests/posix/scripts/file_script.hpp"

namespace fermata::test {

namespace {

constexpr std::size_t kRoom = 64;

int flags_of(const Step& step) {
  const int access = step.one_of<int>(2, {O_RDWR, O_RDWR, O_RDWR, O_RDONLY, O_WRONLY});
  const int creates = step.one_of<int>(3, {O_CREAT, O_CREAT, O_CREAT | O_EXCL, 0, O_EXCL});
  const int others =
      step.one_of<int>(4, {0, 0, 0, O_TRUNC, O_APPEND, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_PATH,
                           O_NOFOLLOW | O_PATH, O_NOFOLLOW | O_DIRECTORY, O_CLOEXEC | O_NONBLOCK});
  return access | creates | others;
}

std::string letters(const Step& step) {
  const std::size_t size = step.one_of<std::size_t>(1, {1, 2, 3, 7, 20, 0});
  return std::string(size, static_cast<char>('a' + step.choice(2, 26)));
}

off_t offset_of(const Step& step, unsigned digit) {
  return step.one_of<off_t>(digit, {0, 1, 2, 5, 10, 4096, 5000, -1});
}

}  // namespace

Answer open_file(Run& run, const Step& step) {
  const char* const path = path_of(step, 0);
  const int flags = flags_of(step);
  const mode_t mode = step.one_of<mode_t>(5, {0644, 0600, 0666, 0755});
  return opened(run, step, ::open(path, flags, mode),
                fmt::format("open('{}', {:#x}, 0{:o})", path, flags, mode));
}

Answer open_file_at(Run& run, const Step& step) {
  const char* const path = path_of(step, 0);
  const int flags = flags_of(step);
  return opened(run, step, ::openat(run[step.first], path, flags, 0644),
                fmt::format("openat(${}, '{}', {:#x})", step.first, path, flags));
}

Answer close_file(Run& run, const Step& step) {
  return {fmt::format("close(${})", step.first), result_of(::close(run[step.first]))};
}

Answer duplicate_file(Run& run, const Step& step) {
  return opened(run, step, ::dup(run[step.first]), fmt::format("dup(${})", step.first));
}

Answer read_file(Run& run, const Step& step) {
  std::array<char, kRoom> room{};
  const std::size_t size = step.one_of<std::size_t>(0, {0, 1, 3, 10, kRoom});
  const ssize_t read = ::read(run[step.first], room.data(), size);
  return {fmt::format("read(${}, {})", step.first, size), result_with(read, [&] {
            return bytes_text(std::span(room).first(static_cast<std::size_t>(read)));
          })};
}

Answer read_file_at(Run& run, const Step& step) {
  std::array<char, kRoom> room{};
  const off_t offset = offset_of(step, 1);
  const iovec pieces[] = {{room.data(), 3}, {room.data() + 3, 10}};
  const ssize_t read = step.choice(0, 2) == 0 ? ::pread(run[step.first], room.data(), 13, offset)
                                              : ::preadv(run[step.first], pieces, 2, offset);
  return {fmt::format("pread(${}, {})", step.first, offset), result_with(read, [&] {
            return bytes_text(std::span(room).first(static_cast<std::size_t>(read)));
          })};
}

Answer write_file(Run& run, const Step& step) {
  const std::string text = letters(step);
  return {fmt::format("write(${}, '{}')", step.first, text),
          result_of(::write(run[step.first], text.data(), text.size()))};
}

Answer write_file_at(Run& run, const Step& step) {
  const std::string text = letters(step);
  const off_t offset = offset_of(step, 0);
  return {fmt::format("pwrite(${}, '{}', {})", step.first, text, offset),
          result_of(::pwrite(run[step.first], text.data(), text.size(), offset))};
}

Answer seek_file(Run& run, const Step& step) {
  const off_t offset = offset_of(step, 0);
  // Where a directory ends is a matter of the file system.
  struct stat status = {};
  const bool is_directory = ::fstat(run[step.first], &status) == 0 && S_ISDIR(status.st_mode);
  const int whence =
      is_directory ? SEEK_SET : step.one_of(1, {SEEK_SET, SEEK_SET, SEEK_CUR, SEEK_END, 77});
  return {fmt::format("lseek(${}, {}, {})", step.first, offset, whence),
          result_of(::lseek(run[step.first], offset, whence))};
}

Answer truncate_file(Run& run, const Step& step) {
  const off_t size = offset_of(step, 0);
  return {fmt::format("ftruncate(${}, {})", step.first, size),
          result_of(::ftruncate(run[step.first], size))};
}

Answer truncate_path(Run&, const Step& step) {
  const char* const path = path_of(step, 1);
  const off_t size = offset_of(step, 0);
  return {fmt::format("truncate('{}', {})", path, size), result_of(::truncate(path, size))};
}

Answer allocate_file(Run& run, const Step& step) {
  const off_t offset = offset_of(step, 0);
  const off_t size = offset_of(step, 1);
  const int mode =
      step.one_of<int>(2, {0, 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE});
  const int result = ::fallocate(run[step.first], mode, offset, size);
  return {fmt::format("fallocate(${}, {}, {}, {})", step.first, mode, offset, size),
          result_of(result)};
}

Answer sync_file(Run& run, const Step& step) {
  const int descriptor = run[step.first];
  const int result = step.choice(0, 2) == 0 ? ::fsync(descriptor) : ::fdatasync(descriptor);
  return {fmt::format("fsync(${})", step.first), result_of(result)};
}

Answer append_from_now_on(Run& run, const Step& step) {
  const int flags = step.one_of<int>(0, {O_APPEND, 0});
  const int result = ::fcntl(run[step.first], F_SETFL, flags);
  const int got = ::fcntl(run[step.first], F_GETFL);
  return {fmt::format("fcntl(${}, F_SETFL, {:#x}), F_GETFL", step.first, flags),
          fmt::format("{}, {:#x}", result_of(result), got)};
}

// What a file does with a copy of its own depends on its pages.
Answer copy_file(Run& run, const Step& step) {
  struct stat from_status = {};
  struct stat to_status = {};
  const bool both_open =
      ::fstat(run[step.first], &from_status) == 0 && ::fstat(run[step.second], &to_status) == 0;
  if (both_open && from_status.st_ino == to_status.st_ino) return {"sendfile to itself", "-"};
  off_t from = step.one_of<off_t>(0, {0, 1, 5});
  const std::size_t size = step.one_of<std::size_t>(1, {1, 4, 30});
  const ssize_t result = ::sendfile(run[step.second], run[step.first], &from, size);
  return {fmt::format("sendfile(${}, ${}, {})", step.second, step.first, size),
          result_with(result, [&] { return fmt::to_string(from); })};
}

Answer map_file(Run& run, const Step& step) {
  constexpr std::size_t kPage = 4096;
  const int descriptor = run[step.first];
  const int protection = step.one_of<int>(0, {PROT_READ | PROT_WRITE, PROT_READ});
  const int flags = step.one_of<int>(1, {MAP_SHARED, MAP_SHARED, MAP_PRIVATE});
  const std::string call = fmt::format("mmap(${}, {}, {:#x})", step.first, protection, flags);
  void* const mapped = ::mmap(nullptr, kPage, protection, flags, descriptor, 0);
  if (mapped == MAP_FAILED) return {call, result_of(-1)};
  std::string text = "mapped";
  if (::lseek(descriptor, 0, SEEK_END) > 2) {  // Else there may be nothing to see.
    auto* const bytes = static_cast<char*>(mapped);
    text = bytes_text({bytes, 3});
    if ((protection & PROT_WRITE) != 0) bytes[1] = static_cast<char>('a' + step.choice(2, 26));
    std::array<char, 3> read{};
    const ssize_t size = ::pread(descriptor, read.data(), read.size(), 0);
    text += " " + result_with(size, [&] { return bytes_text(read); });
  }
  ::munmap(mapped, kPage);
  return {call, std::move(text)};
}

Answer write_stream(Run&, const Step& step) {
  const char* const path = path_of(step, 0);
  const char* const mode = step.one_of(1, {"w", "a", "r", "r+", "w+", "a+", "wx", "x"});
  const std::string call = fmt::format("fopen('{}', '{}')", path, mode);
  std::FILE* const stream = std::fopen(path, mode);
  if (stream == nullptr) return {call, result_of(-1)};
  std::array<char, kRoom> room{};
  std::string text = fmt::format("at {}", std::ftell(stream));
  text += fmt::format(" puts {}", std::fputs("stream", stream) < 0 ? "EOF" : "text");
  std::rewind(stream);
  const std::size_t size = std::fread(room.data(), 1, room.size(), stream);
  text += " " + bytes_text(std::span(room).first(size));
  text += fmt::format(" at {}", std::ftell(stream));
  text += fmt::format(" closed {}", std::fclose(stream));
  return {call, std::move(text)};
}

}  // namespace fermata::test
