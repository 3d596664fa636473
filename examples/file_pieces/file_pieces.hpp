// SPDX-License-Identifier: Apache-2.0
#pragma once

// A large file, read piece by piece beside everything else that a loop has to do. A regular file is
// always readable and yet may block, so that no loop can watch it: file I/O reads it, and the
// callback waits.

#include <array>
#include <cstddef>
#include <exception>
#include <fermata/runtime.hpp>
#include <fermata/loop/loop.hpp>
#include <functional>
#include <span>
#include <string>
#include <utility>

inline constexpr std::size_t kPiece = 8'192;

/// Calls `process` for each piece of the file, in order, and `done` at the end: with null, or with
/// what went wrong.
inline void read_in_pieces(fermata::loop::Loop& loop, std::string path,
                           std::function<void(std::span<const std::byte>)> process,
                           std::function<void(std::exception_ptr)> done) {
  loop.defer([&loop, path = std::move(path), process = std::move(process), done = std::move(done)] {
    // A callback that waits does not keep the loop running.
    const fermata::loop::KeepAlive until_it_is_read = loop.keep_alive();
    try {
      fermata::File file = fermata::File::open(path);
      std::array<std::byte, kPiece> piece;
      while (const std::size_t size = file.read(piece)) process(std::span(piece).first(size));
    } catch (const fermata::Error&) {
      return done(std::current_exception());
    }
    done(nullptr);
  });
}
