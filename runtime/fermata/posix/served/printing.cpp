// SPDX-License-Identifier: Apache-2.0

// Printing to a descriptor, and whether that is a terminal.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "fermata/posix/kernel.hpp"
#include "fermata/posix/served/real.hpp"

using fermata::posix::answer;
using fermata::posix::Kernel;
using fermata::posix::serving_for;

namespace {

int print(Kernel& kernel, int descriptor, const char* format, va_list arguments) {
  char* text = nullptr;
  const int size = ::vasprintf(&text, format, arguments);
  if (size < 0) return -1;
  const iovec piece = {text, static_cast<std::size_t>(size)};
  const ssize_t written = kernel.write(descriptor, {&piece, 1});
  std::free(text);
  return static_cast<int>(answer(written));
}

}  // namespace

extern "C" {

// With _FORTIFY_SOURCE.
int __dprintf_chk(int descriptor, int flag, const char* format, ...);
int __vdprintf_chk(int descriptor, int flag, const char* format, va_list arguments);

int vdprintf(int descriptor, const char* format, va_list arguments) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  return kernel == nullptr ? FERMATA_REAL(vdprintf)(descriptor, format, arguments)
                           : print(*kernel, descriptor, format, arguments);
}

int __vdprintf_chk(int descriptor, int flag, const char* format, va_list arguments) {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  return kernel == nullptr ? FERMATA_REAL(__vdprintf_chk)(descriptor, flag, format, arguments)
                           : print(*kernel, descriptor, format, arguments);
}

int dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  const int result = kernel == nullptr ? FERMATA_REAL(vdprintf)(descriptor, format, arguments)
                                       : print(*kernel, descriptor, format, arguments);
  va_end(arguments);
  return result;
}

int __dprintf_chk(int descriptor, int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  const int result = kernel == nullptr
                         ? FERMATA_REAL(__vdprintf_chk)(descriptor, flag, format, arguments)
                         : print(*kernel, descriptor, format, arguments);
  va_end(arguments);
  return result;
}

int isatty(int descriptor) noexcept {
  Kernel* const kernel = serving_for(__builtin_return_address(0));
  if (kernel == nullptr) return FERMATA_REAL(isatty)(descriptor);
  const int open = kernel->fcntl(descriptor, F_GETFD, 0);
  errno = open < 0 ? -open : ENOTTY;
  return 0;
}

}  // extern "C"
