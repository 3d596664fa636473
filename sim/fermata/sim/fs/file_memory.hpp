// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fermata/base/function_ref.hpp"

namespace fermata::sim {

/// Memory that programs see as the contents of a file which they have mapped.
class FileMemory {
 public:
  static constexpr std::size_t kPage = 4096;

  /// With these contents; null when the system has none left.
  [[nodiscard]] static std::unique_ptr<FileMemory> make(std::span<const std::byte> contents);
  FileMemory(const FileMemory&) = delete;
  FileMemory& operator=(const FileMemory&) = delete;
  ~FileMemory();

  /// A descriptor of the system: what is to be mapped.
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Programs may change it, from now on.
  void may_change() noexcept { may_change_ = true; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes) noexcept;
  /// What is new is zero. False when the system has no memory left.
  [[nodiscard]] bool resize(std::size_t size) noexcept;
  /// Calls `changed(offset, bytes)` for each page that is not as `contents` say, with what differs.
  void compare(
      std::span<const std::byte> contents,
      fermata::detail::FunctionRef<void(std::uint64_t, std::span<const std::byte>)> changed) const;

  std::size_t maps = 0;  // How many files and maps there are that show it.

 private:
  explicit FileMemory(int descriptor) noexcept : descriptor_(descriptor) {}
  void unmap() noexcept;

  int descriptor_;
  std::byte* view_ = nullptr;  // Null: it is empty.
  std::size_t size_ = 0;
  bool may_change_ = false;
};

}  // namespace fermata::sim
