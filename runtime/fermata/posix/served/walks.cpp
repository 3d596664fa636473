// SPDX-License-Identifier: Apache-2.0

// Walks through a tree of files, over calls that are served: the C library's own would make real
// ones.

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::files_for;

namespace {

/// Calls `visit`, which is like a function for nftw(), for everything below a path.
template <class Visit>
class Walk {
 public:
  Walk(int flags, const Visit& visit) noexcept : flags_(flags), visit_(visit) {}

  int run(const char* begin) {
    path_ = begin;
    if (path_.empty()) return fail(ENOENT);
    while (path_.size() > 1 && path_.ends_with('/')) path_.pop_back();
    const std::size_t slash = path_.rfind('/');
    position_.base =
        slash == std::string::npos || path_.size() == 1 ? 0 : static_cast<int>(slash + 1);
    std::string before;
    if (has(FTW_CHDIR)) {
      if (!go_to(position_.base == 0 ? "." : path_.substr(0, slash + 1), before)) return -1;
    }
    struct stat status = {};
    const int type = look(status);
    int result = type < 0 || type == FTW_NS ? -1 : 0;
    if (result == 0) {
      device_ = status.st_dev;
      result = skips(enter(type, status)) ? 0 : last_;
    }
    if (has(FTW_CHDIR) && ::chdir(before.c_str()) != 0) return -1;
    return result;
  }

 private:
  [[nodiscard]] bool has(int flag) const noexcept { return (flags_ & flag) != 0; }

  static int fail(int code) noexcept {
    errno = code;
    return -1;
  }

  /// Whether `result` only means that something is left out.
  bool skips(int result) noexcept {
    last_ = result;
    return has(FTW_ACTIONRETVAL) && (result == FTW_SKIP_SUBTREE || result == FTW_SKIP_SIBLINGS);
  }

  /// Makes `directory` the working one; `before` was it.
  static bool go_to(const std::string& directory, std::string& before) {
    char* const current = ::get_current_dir_name();
    if (current == nullptr) return false;
    before = current;
    std::free(current);
    return ::chdir(directory.c_str()) == 0;
  }

  /// The path as calls take it.
  [[nodiscard]] const char* name() const noexcept {
    return path_.c_str() + (has(FTW_CHDIR) ? position_.base : 0);
  }

  /// What is there, as one of FTW_...; negative when that cannot be told.
  int look(struct stat& status) const {
    const int found = has(FTW_PHYS) ? ::lstat(name(), &status) : ::stat(name(), &status);
    if (found == 0) {
      return S_ISDIR(status.st_mode) ? FTW_D : S_ISLNK(status.st_mode) ? FTW_SL : FTW_F;
    }
    if (errno != EACCES && errno != ENOENT) return -1;
    const int code = errno;
    const bool is_link = !has(FTW_PHYS) && ::lstat(name(), &status) == 0 && S_ISLNK(status.st_mode);
    errno = code;
    return is_link ? FTW_SLN : FTW_NS;
  }

  int tell(int type, const struct stat& status) {
    FTW position = position_;
    return visit_(path_.c_str(), &status, type, &position);
  }

  int enter(int type, const struct stat& status) {
    if (type != FTW_D) return tell(type, status);
    const bool is_new = has(FTW_PHYS) || seen_.emplace(status.st_dev, status.st_ino).second;
    return is_new ? enter_directory(status) : 0;
  }

  int enter_directory(const struct stat& status) {
    DIR* const stream = ::opendir(name());
    if (stream == nullptr) return errno == EACCES ? tell(FTW_DNR, status) : -1;
    const int told = has(FTW_DEPTH) ? 0 : tell(FTW_D, status);
    const std::vector<std::string> names =
        told == 0 ? names_in(stream) : std::vector<std::string>();
    ::closedir(stream);
    if (told != 0) return told;
    std::string before;
    if (has(FTW_CHDIR) && !go_to(name(), before)) return -1;
    int result = visit_all(names);
    if (result == 0 && has(FTW_DEPTH)) result = tell(FTW_DP, status);
    return has(FTW_CHDIR) && ::chdir(before.c_str()) != 0 ? -1 : result;
  }

  static std::vector<std::string> names_in(DIR* stream) {
    std::vector<std::string> names;
    while (const dirent64* const entry = ::readdir64(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    return names;
  }

  int visit_all(const std::vector<std::string>& names) {
    FERMATA_ASSERT(!path_.empty());
    const std::size_t size = path_.size();
    const FTW here = position_;
    if (!path_.ends_with('/')) path_ += '/';
    const std::size_t base = path_.size();
    int result = 0;
    for (const std::string& each : names) {
      path_.resize(base);
      path_ += each;
      position_ = {static_cast<int>(base), here.level + 1};
      result = visit_one();
      if (result != 0) break;
    }
    path_.resize(size);
    position_ = here;
    return has(FTW_ACTIONRETVAL) && result == FTW_SKIP_SIBLINGS ? 0 : result;
  }

  int visit_one() {
    struct stat status = {};
    const int type = look(status);
    if (type < 0) return -1;
    if (type != FTW_NS && has(FTW_MOUNT) && status.st_dev != device_) return 0;
    const int result = enter(type, status);
    return has(FTW_ACTIONRETVAL) && result == FTW_SKIP_SUBTREE ? 0 : result;
  }

  int flags_;
  const Visit& visit_;
  int last_ = 0;
  std::string path_;
  FTW position_ = {};
  dev_t device_ = 0;
  std::set<std::pair<dev_t, ino_t>> seen_;  // Directories, where links are followed.
};

int walk(const char* path, __nftw_func_t visit, int flags) {
  FERMATA_ASSERT(path != nullptr);
  constexpr int kKnown = FTW_PHYS | FTW_MOUNT | FTW_CHDIR | FTW_DEPTH | FTW_ACTIONRETVAL;
  if ((flags & ~kKnown) != 0) {
    errno = EINVAL;
    return -1;
  }
  return Walk(flags, visit).run(path);
}

/// ftw() knows fewer types.
int walk(const char* path, __ftw_func_t visit) {
  const auto tell = [visit](const char* each, const struct stat* status, int type, FTW*) {
    const bool is_file = type == FTW_SL;
    return visit(each, status, is_file ? FTW_F : type == FTW_SLN ? FTW_NS : type);
  };
  return Walk(0, tell).run(path);
}

}  // namespace

extern "C" {

int ftw(const char* path, __ftw_func_t visit, int most) {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(ftw)(path, visit, most) : walk(path, visit);
}

int nftw(const char* path, __nftw_func_t visit, int most, int flags) {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(nftw)(path, visit, most, flags) : walk(path, visit, flags);
}

// The status of a file has the same layout for both.
int ftw64(const char* path, __ftw64_func_t visit, int most) {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(ftw64)(path, visit, most)
                 : walk(path, reinterpret_cast<__ftw_func_t>(visit));
}

int nftw64(const char* path, __nftw64_func_t visit, int most, int flags) {
  const bool is_real = files_for(__builtin_return_address(0)) == nullptr;
  return is_real ? FERMATA_REAL(nftw64)(path, visit, most, flags)
                 : walk(path, reinterpret_cast<__nftw_func_t>(visit), flags);
}

}  // extern "C"
