// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the simulated database and its clients talk: frames, each a length of four bytes, a kind and
// fields. Numbers have their first byte first.
//
//   client                                     server
//   Startup user password database             Ready session secret | Error
//   Execute sql parameters portion             [Columns Rows... [Suspended]...] Done | Error
//   Prepare number sql                         Prepared parameters | Error
//   ExecutePrepared number parameters portion  as Execute
//   Forget number                              nothing
//   More portion                               goes on after Suspended; nothing without a portal
//   Reset                                      Done | Error
//   Sync mark                                  Synced mark; a portal that was suspended is gone
//   Cancel session secret                      the end of the stream; first on its connection
//
// Order    Requests are answered one after the other, in their order; an answer does not say which
//          request it is for, but for Synced.  A request that comes while a portal is suspended
//          ends that without a word.
// Portion  How many rows come before Suspended; 0 for all.
// Running  While a command takes its time the server says so now and then: StillRunning.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/db/value.hpp"

namespace fermata::sim::wire {

enum class Kind : std::uint8_t {
  Startup = 'S',
  Cancel = 'C',
  Execute = 'Q',
  Prepare = 'P',
  ExecutePrepared = 'E',
  Forget = 'F',
  More = 'M',
  Reset = 'R',
  Sync = 'Y',

  Ready = 'z',
  Columns = 'c',
  Rows = 'r',
  Suspended = 's',
  Done = 'd',
  Prepared = 'p',
  Synced = 'y',
  Error = 'e',
  StillRunning = 'h',
};

/// What was received is not a frame, or not one that is expected here.
class WireError : public Linkable<WireError> {
 public:
  using Linkable::Linkable;
};

inline constexpr std::size_t kHeaderSize = 5;
inline constexpr std::size_t kFrameMax = std::size_t{16} << 20;

/// Makes frames, one behind the other.
class Writer {
 public:
  Writer& begin(Kind kind);
  Writer& u8(std::uint8_t number);
  Writer& u32(std::uint32_t number);
  Writer& u64(std::uint64_t number);
  Writer& text(std::string_view text);
  Writer& cell(const db::Cell& cell);
  Writer& cells(std::span<const db::Cell> cells);
  /// Fields that were made elsewhere.
  Writer& raw(std::span<const std::byte> fields);
  /// Ends the frame that was begun last.
  void end();

  /// The size of the frame that is being made.
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - begin_; }
  [[nodiscard]] bool empty() const noexcept { return bytes_.empty(); }
  [[nodiscard]] std::vector<std::byte> take() noexcept;

 private:
  void number(std::uint64_t number, std::size_t size);

  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

struct Frame {
  Kind kind{};
  std::vector<std::byte> fields;
};

/// Reads the fields of a frame, to which text and bytes refer. Throws WireError when there is less
/// than was asked for.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> fields) noexcept : rest_(fields) {}

  std::uint8_t u8() { return static_cast<std::uint8_t>(number(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::string_view text();
  db::Cell cell();
  /// Reads as many values as the frame says there are.
  std::vector<db::Value> values();
  /// Throws WireError when something is left.
  void end() const;
  [[nodiscard]] std::span<const std::byte> rest() const noexcept { return rest_; }

 private:
  std::span<const std::byte> take(std::size_t size);
  std::uint64_t number(std::size_t size);

  std::span<const std::byte> rest_;
};

/// Puts frames together from the bytes of a stream.
class Assembler {
 public:
  void add(std::span<const std::byte> bytes);
  /// The next whole frame. Throws WireError for a length that no frame has.
  [[nodiscard]] std::optional<Frame> next();
  /// Whether nothing is left of what was added.
  [[nodiscard]] bool empty() const noexcept { return taken_ == bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
};

}  // namespace fermata::sim::wire
