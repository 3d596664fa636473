// SPDX-License-Identifier: Apache-2.0

// Who the process belongs to: root, whoever runs the test. Libraries do more for files of root.

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "fermata/base/assert.hpp"
#include "fermata/posix/served/served_file.hpp"

using fermata::posix::serving_machine;
using namespace std::string_view_literals;

namespace {

constexpr std::string_view kRoot = "root";

/// The entry of root, whose texts lie in `buffer`. 0 or an errno value.
int fill_root(passwd* entry, char* buffer, size_t size, passwd** result) noexcept {
  constexpr std::string_view kTexts = "root\0x\0/root\0/bin/sh"sv;
  FERMATA_ASSERT(entry != nullptr);
  *result = nullptr;
  if (size <= kTexts.size()) return ERANGE;
  buffer[kTexts.copy(buffer, kTexts.size())] = '\0';
  char* const name = buffer;
  char* const password = name + kRoot.size() + 1;
  char* const home = password + 2;
  *entry = {.pw_name = name,
            .pw_passwd = password,
            .pw_uid = 0,
            .pw_gid = 0,
            .pw_gecos = name,
            .pw_dir = home,
            .pw_shell = home + std::string_view(home).size() + 1};
  *result = entry;
  return 0;
}

// What getpwuid() and getpwnam() return.
constinit std::array<char, 64> kept_texts = {};
constinit passwd kept_entry = {};

/// The entry of root, or null with errno 0 for anybody else.
passwd* entry_of_root(bool is_root) noexcept {
  passwd* result = nullptr;
  errno = 0;
  if (is_root) fill_root(&kept_entry, kept_texts.data(), kept_texts.size(), &result);
  FERMATA_ASSERT(is_root == (result != nullptr));
  return result;
}

}  // namespace

#define FERMATA_ROOT(result, name)                                                              \
  result name() noexcept {                                                                      \
    const bool is_served = ::fermata::posix::files_for(__builtin_return_address(0)) != nullptr; \
    return is_served ? 0 : FERMATA_REAL(name)();                                                \
  }

extern "C" {

FERMATA_ROOT(uid_t, getuid)
FERMATA_ROOT(uid_t, geteuid)
FERMATA_ROOT(gid_t, getgid)
FERMATA_ROOT(gid_t, getegid)

passwd* getpwuid(uid_t user) {
  return serving_machine() == nullptr ? FERMATA_REAL(getpwuid)(user) : entry_of_root(user == 0);
}

passwd* getpwnam(const char* name) {
  return serving_machine() == nullptr ? FERMATA_REAL(getpwnam)(name) : entry_of_root(name == kRoot);
}

int getpwuid_r(uid_t user, passwd* entry, char* buffer, size_t size, passwd** result) {
  if (serving_machine() == nullptr) {
    return FERMATA_REAL(getpwuid_r)(user, entry, buffer, size, result);
  }
  *result = nullptr;
  return user == 0 ? fill_root(entry, buffer, size, result) : 0;
}

int getpwnam_r(const char* name, passwd* entry, char* buffer, size_t size, passwd** result) {
  if (serving_machine() == nullptr) {
    return FERMATA_REAL(getpwnam_r)(name, entry, buffer, size, result);
  }
  *result = nullptr;
  return name == kRoot ? fill_root(entry, buffer, size, result) : 0;
}

}  // extern "C"
