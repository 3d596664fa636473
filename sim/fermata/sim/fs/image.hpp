// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a file contains: as programs see it, and as the platter has it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace fermata::sim {

/// Answers a draw of a crash: a number below `bound`; 0 is calm.
using CrashDraw = std::function<std::uint64_t(std::uint64_t key, std::uint64_t bound)>;

/// Every change is seen at once and becomes durable with sync(), in order.
class FileImage {
 public:
  using Bytes = std::vector<std::byte>;

  [[nodiscard]] const Bytes& seen() const noexcept { return seen_; }
  [[nodiscard]] const Bytes& durable() const noexcept { return durable_; }

  /// Moves what there is at `offset` into `to`; returns how much.
  std::size_t read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  /// A gap before `offset` is filled with zeros.
  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void resize(std::uint64_t size);

  void sync();
  /// What a sync that fails may leave: changes that are seen and that no later sync will write.
  void give_up_changes() noexcept { changes_.clear(); }
  /// Nobody can see this any more; what is durable stays.
  void forget_seen() noexcept;

  /// The machine goes down: each change since the last sync is kept, lost or, a write, torn (only
  /// its first bytes are kept), independently of the others; POSIX promises no more. 0 keeps it.
  void crash(const CrashDraw& draw, std::uint64_t key);

 private:
  struct Change {
    std::uint64_t offset = 0;
    Bytes bytes;
    bool resizes = false;  // To `offset`.
  };

  static void apply(Bytes& to, std::uint64_t offset, std::span<const std::byte> bytes);

  Bytes seen_;
  Bytes durable_;
  std::vector<Change> changes_;
};

}  // namespace fermata::sim
