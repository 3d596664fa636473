// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a file contains: as programs see it, and as the platter has it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace fermata::sim {

/// Answers a draw of a crash: a number below `bound`; 0 is calm.
using CrashDraw = std::function<std::uint64_t(std::uint64_t key, std::uint64_t bound)>;

/// Is told, for people, what the answers to a CrashDraw do.
class CrashListener {
 public:
  /// The key of the last draw, when its answer was not calm; else 0.
  [[nodiscard]] virtual std::uint64_t last_told() const = 0;
  /// " on 'desk'" where there are several machines, else empty.
  [[nodiscard]] virtual std::string place() const = 0;
  /// The draw with the key `told` does what `sentence` says; an empty one goes without saying.
  virtual void tell(std::uint64_t told, std::string sentence) = 0;

 protected:
  ~CrashListener() = default;
};

/// Every change is seen at once and becomes durable with sync(), in order.
class FileImage {
 public:
  using Bytes = std::vector<std::byte>;

  [[nodiscard]] const Bytes& seen() const noexcept { return seen_; }
  [[nodiscard]] const Bytes& durable() const noexcept { return durable_; }

  /// Moves what there is at `offset` into `to`; returns how much.
  std::size_t read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  /// A gap before `offset` is filled with zeros. `is_cut`: the program has asked for more bytes to
  /// be written, and is expected to write the others next.
  void write(std::uint64_t offset, std::span<const std::byte> bytes, bool is_cut = false);
  void resize(std::uint64_t size);

  void sync();
  /// Whether there are changes since the last sync.
  [[nodiscard]] bool changed() const noexcept { return !changes_.empty(); }
  /// What a sync that fails may leave: changes that are seen and that no later sync will write.
  void give_up_changes() noexcept { changes_.clear(); }
  /// Nobody can see this any more; what is durable stays.
  void forget_seen() noexcept;

  /// The machine goes down: each change since the last sync is kept, lost or, a write, torn (only
  /// its first bytes are kept), independently of the others; POSIX promises no more. 0 keeps it.
  /// But what goes on with a write that was cut goes the same way as far as its sector: no disk
  /// writes the end of a sector and not its beginning, when a program has written both at once.
  /// `listener` may be null; else it is told, and the file is called `name`.
  void crash(const CrashDraw& draw, std::uint64_t key, CrashListener* listener = nullptr,
             const std::string& name = {});

 private:
  struct Change {
    std::uint64_t offset = 0;
    Bytes bytes;
    bool resizes = false;  // To `offset`.
    bool is_cut = false;

    /// "the write of 3 bytes to 'name'", for people.
    [[nodiscard]] std::string text(const std::string& name) const;
  };

  /// How many of the first bytes of `change` lie in the sector in which `before` ends, when
  /// `change` goes on with it.
  [[nodiscard]] static std::size_t shared_bytes(const Change& before,
                                                const Change& change) noexcept;
  /// Whether something is left of it without its first `count` bytes.
  [[nodiscard]] static bool drop_first(Change& change, std::size_t count);
  static void apply(Bytes& to, std::uint64_t offset, std::span<const std::byte> bytes);

  Bytes seen_;
  Bytes durable_;
  std::vector<Change> changes_;
};

}  // namespace fermata::sim
