// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "fermata/reactor/file.hpp"
#include "fermata/reactor/stream.hpp"

namespace fermata::backend {

struct StreamHandle::FilePart {
  Ref<FileHandle> file;
  std::uint64_t offset = 0;  // Of what is sent next.
  std::uint64_t left = 0;
  std::uint64_t sent = 0;

  void advance(std::uint64_t bytes) noexcept {
    offset += bytes;
    left -= bytes;
    sent += bytes;
  }
};

}  // namespace fermata::backend
