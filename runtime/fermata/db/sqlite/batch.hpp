// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/db/driver.hpp"
#include "fermata/db/value.hpp"

namespace fermata::db::sqlite {

/// Rows on their way from a worker, with the text and bytes that they refer to.
class Batch {
 public:
  std::vector<Cell> cells;  // Row after row.
  bool last = false;        // No rows come after these.
  Effect effect;            // With the last one.

  /// A copy of `size` bytes, which lives as long as the batch.
  const char* keep(const void* data, std::size_t size) {
    if (size > free_) {
      free_ = std::max(size, kChunk);
      chunks_.push_back(std::make_unique<char[]>(free_));
      next_ = chunks_.back().get();
    }
    FERMATA_ASSERT(size <= free_);
    char* const copy = next_;
    if (size > 0) std::memcpy(copy, data, size);
    next_ += size;
    free_ -= size;
    kept_ += size;
    return copy;
  }

  /// How many bytes were kept.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

 private:
  static constexpr std::size_t kChunk = 16 * 1024;

  std::vector<std::unique_ptr<char[]>> chunks_;
  char* next_ = nullptr;
  std::size_t free_ = 0;
  std::size_t kept_ = 0;
};

}  // namespace fermata::db::sqlite
