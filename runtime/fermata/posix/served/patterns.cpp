// SPDX-License-Identifier: Apache-2.0

// glob(): the C library finds the names, in directories of simulated files.

#include <dirent.h>
#include <glob.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "fermata/base/assert.hpp"
#include "fermata/posix/environment.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::files_for;
using fermata::posix::serving;

namespace {

using Failed = int (*)(const char*, int);

/// Where the user lives; empty for one that there is not.
std::string home_of(const std::string& user) {
  FERMATA_ASSERT(serving != nullptr);
  fermata::posix::Environment* const variables = serving->environment();
  const char* const set = user.empty() && variables != nullptr ? variables->find("HOME") : nullptr;
  if (set != nullptr) return set;
  const passwd* const found = user.empty() ? ::getpwuid(::getuid()) : ::getpwnam(user.c_str());
  return found == nullptr ? std::string() : found->pw_dir;
}

/// Replaces '~' and the user behind it by where that user lives. False: there is no such user.
bool expand_home(std::string& pattern) {
  if (!pattern.starts_with('~')) return true;
  const std::size_t end = std::min(pattern.find('/'), pattern.size());
  const std::string home = home_of(pattern.substr(1, end - 1));
  if (home.empty()) return false;
  FERMATA_ASSERT(end > 0);
  pattern.replace(0, end, home);
  return true;
}

/// The calls that the C library is to make.
template <class Result>
void give_calls(Result& found) noexcept {
  found.gl_opendir = [](const char* path) { return static_cast<void*>(::opendir(path)); };
  found.gl_closedir = [](void* stream) { ::closedir(static_cast<DIR*>(stream)); };
  if constexpr (std::is_same_v<Result, glob_t>) {
    found.gl_readdir = [](void* stream) { return ::readdir(static_cast<DIR*>(stream)); };
    found.gl_stat = [](const char* path, struct stat* status) { return ::stat(path, status); };
    found.gl_lstat = [](const char* path, struct stat* status) { return ::lstat(path, status); };
  } else {
    found.gl_readdir = [](void* stream) { return ::readdir64(static_cast<DIR*>(stream)); };
    found.gl_stat = [](const char* path, struct stat64* status) { return ::stat64(path, status); };
    found.gl_lstat = [](const char* path, struct stat64* status) {
      return ::lstat64(path, status);
    };
  }
}

template <class Real, class Result>
int expand(Real* real, const char* pattern, int flags, Failed failed, Result& found) {
  constexpr int kHome = GLOB_TILDE | GLOB_TILDE_CHECK;
  const bool has_own_calls = (flags & GLOB_ALTDIRFUNC) != 0;
  std::string expanded = pattern;
  if ((flags & kHome) != 0 && !expand_home(expanded) && (flags & GLOB_TILDE_CHECK) != 0) {
    return GLOB_NOMATCH;
  }
  if (!has_own_calls) give_calls(found);
  const int result = real(expanded.c_str(), (flags & ~kHome) | GLOB_ALTDIRFUNC, failed, &found);
  if (!has_own_calls) found.gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}

}  // namespace

extern "C" {

int glob(const char* pattern, int flags, Failed failed, glob_t* found) noexcept {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(glob)(pattern, flags, failed, found)
                 : expand(FERMATA_REAL(glob), pattern, flags, failed, *found);
}

int glob64(const char* pattern, int flags, Failed failed, glob64_t* found) noexcept {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(glob64)(pattern, flags, failed, found)
                 : expand(FERMATA_REAL(glob64), pattern, flags, failed, *found);
}

}  // extern "C"
