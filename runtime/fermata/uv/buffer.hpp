// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <uv.h>

#include <cstddef>
#include <span>

namespace fermata::uv::detail {

/// `data` as libuv wants it, which takes a char* for reading and writing alike.
inline uv_buf_t buffer_of(std::span<const std::byte> data) {
  auto* base = reinterpret_cast<char*>(const_cast<std::byte*>(data.data()));
  return uv_buf_init(base, static_cast<unsigned>(data.size()));
}

}  // namespace fermata::uv::detail
