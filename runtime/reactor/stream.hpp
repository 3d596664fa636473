// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection that carries bytes both ways.
//
// Reading  FIFO. Once begun it stays armed: bytes go straight into a waiting reader's buffer; when
//          nobody reads, one chunk is held and the backend stops until it is taken. A reader that
//          leaves with bytes it never took gives them back: a cancelled read loses none (IO-02).
//          End of file and errors are sticky (IO-04).
// Writing  In submission order, never interleaved (IO-03). The backend is tried at once; what it
//          does not accept is copied, so that a submitted write needs the caller no more.
// Backend  Implements the hooks, calls the `for the backend` section from inside a turn.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "fermata/runtime/base/intrusive_list.hpp"
#include "fermata/runtime/reactor/address.hpp"
#include "fermata/runtime/reactor/io_handle.hpp"
#include "fermata/runtime/reactor/request.hpp"

namespace fermata {

class ConnectRequest;
class StreamHandle;

/// The most buffers that one operation takes.
inline constexpr std::size_t kBuffersMax = 65'535;

/// Bytes that lie in several places, in order.
using Buffers = std::span<const std::span<const std::byte>>;
[[nodiscard]] std::size_t size_of(Buffers buffers) noexcept;

/// Reads at least one byte into `buffer`, or none at the end of the stream.
class ReadRequest final : public Request {
 public:
  /// Throws UsageError when `buffer` is empty, and for the writing end of a pipe.
  ReadRequest(StreamHandle& stream, std::span<std::byte> buffer);
  ~ReadRequest() override;

  /// Accepts the bytes, once completed without an error; what is not accepted goes back to the
  /// stream. Returns how many there are.
  std::size_t take() noexcept;

 private:
  friend class StreamHandle;

  Ref<StreamHandle> stream_;
  std::span<std::byte> buffer_;
  detail::Link<ReadRequest> link_;

 public:
  using List = detail::IntrusiveList<ReadRequest, &ReadRequest::link_>;
};

enum class WriteMode : std::uint8_t {
  All,   // completes when every byte was accepted
  Some,  // completes with what is accepted at once, if anything is
};

/// Writes up to kTransferMax bytes of `data`, which is not needed after construction.
class WriteRequest final : public Request {
 public:
  /// Throws UsageError for the reading end of a pipe.
  WriteRequest(StreamHandle& stream, std::span<const std::byte> data,
               WriteMode mode = WriteMode::All);
  /// The same for all of `buffers`, with nothing in between. Throws UsageError, and takes none of
  /// them, when they are more than kBuffersMax or hold more than kTransferMax bytes.
  WriteRequest(StreamHandle& stream, Buffers buffers);
  ~WriteRequest() override;

 private:
  friend class StreamHandle;

  Ref<StreamHandle> stream_;
};

/// Which ways bytes go; an end of an anonymous pipe has one.
enum class Direction : std::uint8_t { Both, In, Out };

class StreamHandle : public IoHandle {
 public:
  /// 0.0.0.0:0 where there is none.
  [[nodiscard]] virtual Address local_address() const { return {}; }
  [[nodiscard]] virtual Address peer_address() const { return {}; }

  [[nodiscard]] bool readable() const noexcept { return direction_ != Direction::Out; }
  [[nodiscard]] bool writable() const noexcept { return direction_ != Direction::In; }

  /// No more writes: the peer sees the end of the stream behind everything written so far. Throws
  /// InputOutputError on a closed stream. Idempotent.
  void shutdown_write();

  /// Writes what the backend accepts now and returns how much; 0 when it accepts nothing, when
  /// other writes wait, and when a WriteRequest would fail. For writers who can do without a
  /// request.
  std::size_t write_at_once(std::span<const std::byte> data);

  /// Whether the peer has ended its side and everything it sent was read.
  [[nodiscard]] bool at_end() const noexcept { return ended_ && held().empty(); }

 protected:
  StreamHandle(detail::Attachment& attachment, IoType type, Direction direction = Direction::Both)
      : IoHandle(attachment, type), direction_(direction) {}
  ~StreamHandle() override = default;

  // --- hooks; error codes are positive errno values, 0 for success ---

  struct Written {
    std::size_t accepted = 0;
    int code = 0;
  };

  /// From now on received() is called as bytes come in. REQUIRES: not reading.
  virtual int start_reading() = 0;
  virtual void stop_reading() noexcept = 0;

  /// Accepts what it can without waiting, maybe nothing. REQUIRES: no write is submitted.
  virtual Written try_write(Buffers buffers) = 0;

  /// Writes all of `data`, which stays valid, then calls write_done(). REQUIRES: one at a time.
  virtual int submit_write(std::span<const std::byte> data) = 0;

  /// Sends the end of the stream. REQUIRES: no write is submitted.
  virtual void submit_shutdown() noexcept = 0;

  // --- for the backend ---

  /// Where bytes that are there now should go: the first waiting reader's buffer, else `spare`.
  /// Nothing but received() may come between.
  [[nodiscard]] std::span<std::byte> read_target(std::span<std::byte> spare) noexcept;

  /// `data` arrived; it may lie in what read_target() gave.
  void received(std::span<const std::byte> data);
  void received_end();
  void receive_failed(int code);

  void write_done(int code);
  void connected(int code);

 private:
  friend class ConnectRequest;
  friend class ReadRequest;
  friend class WriteRequest;
  friend class Streams;

  /// Bytes that a write left for the backend.
  struct PendingWrite {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    std::size_t total = 0;            // Of the whole request.
    WriteRequest* request = nullptr;  // Null when it was abandoned.
  };

  void read(ReadRequest& request);
  void serve_readers();
  [[nodiscard]] bool may_serve() const noexcept { return !readers_.empty() && untaken_ == nullptr; }
  std::size_t fill_reader(std::span<const std::byte> data) noexcept;
  void stop_armed_reading() noexcept;
  void give_back(std::span<const std::byte> bytes);
  void write(WriteRequest& request, Buffers buffers, WriteMode mode);
  void submit_next_write();
  void fail_writes(int code);
  void abandon_write(const WriteRequest& request) noexcept;
  void fail_parked() override;
  [[nodiscard]] std::span<const std::byte> held() const noexcept {
    return std::span(held_).subspan(held_taken_);
  }

  ReadRequest::List readers_;
  ReadRequest* untaken_ = nullptr;  // Completed, but its bytes are not accepted yet.
  std::vector<std::byte> held_;
  std::size_t held_taken_ = 0;
  std::list<PendingWrite> writes_;
  ConnectRequest* connecting_ = nullptr;
  int read_code_ = 0;
  int write_code_ = 0;
  Direction direction_;
  bool reading_ = false;
  bool ended_ = false;
  bool write_shut_ = false;
};

}  // namespace fermata
