// SPDX-License-Identifier: Apache-2.0

// Files with names that nobody else has.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::at;
using fermata::posix::Files;
using fermata::posix::files_for;
using fermata::posix::serving;

namespace {

constexpr std::string_view kMark = "XXXXXX";

/// Calls `make` with names made of `name`, until one is not taken. A negative errno, or its result.
template <class Make>
int make_unique(char* name, const Make& make) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr int kMostTries = 238'328;
  FERMATA_ASSERT(serving != nullptr);
  const std::size_t size = std::strlen(name);
  if (size < kMark.size()) return -EINVAL;
  const std::span<char> mark(name + size - kMark.size(), kMark.size());
  if (std::string_view(mark.data(), mark.size()) != kMark) return -EINVAL;
  for (int i = 0; i < kMostTries; ++i) {
    std::array<unsigned char, kMark.size()> drawn{};
    serving->fill_randomly(std::as_writable_bytes(std::span(drawn)));
    for (std::size_t j = 0; j < mark.size(); ++j) mark[j] = kLetters[drawn[j] % kLetters.size()];
    const int result = make();
    if (result != -EEXIST) return result;
  }
  return -EEXIST;
}

int make_file(Files& files, char* name, int flags) {
  constexpr mode_t kPrivate = 0600;
  const int all = (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL;
  return make_unique(name, [&] { return files.open(at(name), all, kPrivate); });
}

}  // namespace

extern "C" {

FERMATA_FILE(int, mkstemp, (char* name), (name), , make_file(*files, name, 0))
FERMATA_FILE(int, mkstemp64, (char* name), (name), , make_file(*files, name, 0))
FERMATA_FILE(int, mkostemp, (char* name, int flags), (name, flags), ,
             make_file(*files, name, flags))
FERMATA_FILE(int, mkostemp64, (char* name, int flags), (name, flags), ,
             make_file(*files, name, flags))

char* mkdtemp(char* name) noexcept {
  constexpr mode_t kPrivate = 0700;
  Files* const files = files_for(__builtin_return_address(0));
  if (files == nullptr) return FERMATA_REAL(mkdtemp)(name);
  const int code = make_unique(name, [&] { return files->make_directory(at(name), kPrivate); });
  if (code >= 0) return name;
  errno = -code;
  return nullptr;
}

}  // extern "C"
