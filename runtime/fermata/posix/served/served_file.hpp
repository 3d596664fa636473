// SPDX-License-Identifier: Apache-2.0
#pragma once

// How functions that concern files are served.

#include "fermata/posix/files.hpp"
#include "fermata/posix/served/real.hpp"

/// Defines the function `name`: it returns what `operation` of `files` answers, or calls the real
/// one.
#define FERMATA_FILE(result, name, parameters, arguments, exceptions, operation) \
  result name parameters exceptions {                                            \
    ::fermata::posix::Files* const files =                                       \
        ::fermata::posix::files_for(__builtin_return_address(0));                \
    if (files == nullptr) return FERMATA_REAL(name) arguments;                   \
    return ::fermata::posix::answer(static_cast<result>(operation));             \
  }
