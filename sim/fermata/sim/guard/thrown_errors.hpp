// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where errors were thrown, for people. The program's own link defines __cxa_throw and
// __cxa_allocate_exception anew; while nobody asks they cost a load and a test.
//
// What is seen   throw statements of the program and of its libraries. Not seen: errors that were
//                made by std::make_exception_ptr, and those of a program that has the C++ library
//                linked in.

#include <exception>
#include <memory>
#include <span>

namespace fermata::sim::detail {

/// While it lives, the throws of this thread are noted, when `wanted`. The last 64 are kept.
class NoteThrows {
 public:
  class Log;
  explicit NoteThrows(bool wanted);
  NoteThrows(const NoteThrows&) = delete;
  NoteThrows& operator=(const NoteThrows&) = delete;
  ~NoteThrows();

 private:
  std::unique_ptr<Log> log_;
  Log* outer_;
};

/// The return addresses of the throw of `error`, innermost first; empty when it was not noted, or
/// has been forgotten. Valid until the next throw.
[[nodiscard]] std::span<const void* const> thrown_in(const std::exception_ptr& error) noexcept;

/// Looks up what the functions were before, so that nothing has to be looked up on the stack of a
/// coroutine.
void find_throw_functions() noexcept;

}  // namespace fermata::sim::detail
