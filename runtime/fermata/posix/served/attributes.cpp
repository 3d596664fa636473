// SPDX-License-Identifier: Apache-2.0

// Extended attributes, which the simulated file system does not have.

#include <sys/types.h>
#include <sys/xattr.h>

#include <cerrno>

#include "fermata/posix/served/served_file.hpp"

extern "C" {

FERMATA_FILE(ssize_t, getxattr, (const char* path, const char* name, void* value, size_t size),
             (path, name, value, size), noexcept, -ENOTSUP)
FERMATA_FILE(ssize_t, lgetxattr, (const char* path, const char* name, void* value, size_t size),
             (path, name, value, size), noexcept, -ENOTSUP)
FERMATA_FILE(ssize_t, fgetxattr, (int descriptor, const char* name, void* value, size_t size),
             (descriptor, name, value, size), noexcept, -ENOTSUP)
FERMATA_FILE(int, setxattr,
             (const char* path, const char* name, const void* value, size_t size, int flags),
             (path, name, value, size, flags), noexcept, -ENOTSUP)
FERMATA_FILE(int, lsetxattr,
             (const char* path, const char* name, const void* value, size_t size, int flags),
             (path, name, value, size, flags), noexcept, -ENOTSUP)
FERMATA_FILE(int, fsetxattr,
             (int descriptor, const char* name, const void* value, size_t size, int flags),
             (descriptor, name, value, size, flags), noexcept, -ENOTSUP)
FERMATA_FILE(ssize_t, listxattr, (const char* path, char* names, size_t size), (path, names, size),
             noexcept, -ENOTSUP)
FERMATA_FILE(ssize_t, llistxattr, (const char* path, char* names, size_t size), (path, names, size),
             noexcept, -ENOTSUP)
FERMATA_FILE(ssize_t, flistxattr, (int descriptor, char* names, size_t size),
             (descriptor, names, size), noexcept, -ENOTSUP)
FERMATA_FILE(int, removexattr, (const char* path, const char* name), (path, name), noexcept,
             -ENOTSUP)
FERMATA_FILE(int, lremovexattr, (const char* path, const char* name), (path, name), noexcept,
             -ENOTSUP)
FERMATA_FILE(int, fremovexattr, (int descriptor, const char* name), (descriptor, name), noexcept,
             -ENOTSUP)

}  // extern "C"
