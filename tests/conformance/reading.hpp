// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "fermata/io/byte_stream.hpp"

namespace fermata::conformance {

/// What one read gives.
inline std::string read_text(ByteStream& stream, const WaitOptions& options = {}) {
  std::string text(100, '\0');
  text.resize(stream.read(std::as_writable_bytes(std::span(text)), options));
  return text;
}

inline std::string read_exactly(ByteStream& stream, std::size_t size) {
  std::string text(size, '\0');
  stream.read_exact(std::as_writable_bytes(std::span(text)));
  return text;
}

inline std::string read_to_end(ByteStream& stream) {
  std::string all;
  std::string part(100'000, '\0');
  while (const std::size_t size = stream.read(std::as_writable_bytes(std::span(part)))) {
    all.append(part, 0, size);
  }
  return all;
}

}  // namespace fermata::conformance
