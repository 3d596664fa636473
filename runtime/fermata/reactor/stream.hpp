// SPDX-License-Identifier: Apache-2.0
#pragma once

// A connection that carries bytes both ways.
//
// Reading  FIFO. Once begun it stays armed: bytes go straight into a waiting reader's buffer; when
//          nobody reads, one chunk is held and the backend stops until it is taken. A reader that
//          leaves with bytes it never took gives them back: a cancelled read loses none (IO-02).
//          So does one that wants its whole buffer and does not get it, for whatever reason.
//          End of file and errors are sticky (IO-04).
// Watching Who waits for input without reading keeps reading armed too. All are told when a read
//          would end at once, which is when nobody stands in line any more and a chunk is held, or
//          nothing follows. The chunk stays for whoever reads first.
// Writing  In submission order, never interleaved (IO-03). The backend is tried at once; what it
//          does not accept is copied, so that a submitted write needs the caller no more.
// Files    A part of a file that is sent stands among the writes. The backend may move its bytes
//          without bringing them here; what it does not move so is read and written, in pieces.
// Backend  Implements the hooks, calls the `for the backend` section from inside a turn.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "fermata/base/intrusive_list.hpp"
#include "fermata/reactor/address.hpp"
#include "fermata/reactor/io_handle.hpp"
#include "fermata/reactor/request.hpp"
#include "fermata/reactor/terminal.hpp"

namespace fermata::backend {

class ConnectRequest;
class FileHandle;
class StreamHandle;
struct FileOperation;

/// The most buffers that one operation takes.
inline constexpr std::size_t kBuffersMax = 65'535;

/// Bytes that lie in several places, in order.
using Buffers = std::span<const std::span<const std::byte>>;
[[nodiscard]] std::size_t size_of(Buffers buffers) noexcept;

enum class ReadMode : std::uint8_t {
  Some,  // completes with what is there, at least one byte
  All,   // completes when the buffer is full, or with less at the end of the stream
};

/// Reads into `buffer`, none at the end of the stream. Nobody else reads in between.
class ReadRequest final : public Request {
 public:
  /// ReadMode::Some reads up to kTransferMax bytes. Throws UsageError when `buffer` is empty, and
  /// for a stream that is only written.
  ReadRequest(StreamHandle& stream, std::span<std::byte> buffer, ReadMode mode = ReadMode::Some);
  ~ReadRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

  /// Accepts the bytes, once completed without an error; what is not accepted goes back to the
  /// stream. Returns how many there are.
  std::size_t take() noexcept;

 private:
  friend class StreamHandle;

  [[nodiscard]] std::span<std::byte> filled() const noexcept { return buffer_.first(filled_); }
  [[nodiscard]] std::span<std::byte> rest() const noexcept { return buffer_.subspan(filled_); }
  [[nodiscard]] bool is_satisfied() const noexcept {
    return mode_ == ReadMode::Some ? filled_ > 0 : filled_ == buffer_.size();
  }

  Ref<StreamHandle> stream_;
  std::span<std::byte> buffer_;
  std::size_t filled_ = 0;
  ReadMode mode_;
  detail::Link<ReadRequest> link_;

 public:
  using List = detail::IntrusiveList<ReadRequest, &ReadRequest::link_>;
};

/// Completes when a read would end at once: with bytes, at the end of the stream or with its error.
/// Takes nothing. It fails only when the stream is closed.
class ReadableRequest final : public Request {
 public:
  /// Throws UsageError for a stream that is only written.
  explicit ReadableRequest(StreamHandle& stream);
  ~ReadableRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

 private:
  friend class StreamHandle;

  Ref<StreamHandle> stream_;
  detail::Link<ReadableRequest> link_;

 public:
  using List = detail::IntrusiveList<ReadableRequest, &ReadableRequest::link_>;
};

enum class WriteMode : std::uint8_t {
  All,   // completes when every byte was accepted
  Some,  // completes with what is accepted at once, if anything is
};

/// Writes up to kTransferMax bytes of `data`, which is not needed after construction.
class WriteRequest final : public Request {
 public:
  /// Throws UsageError for a stream that is only read.
  WriteRequest(StreamHandle& stream, std::span<const std::byte> data,
               WriteMode mode = WriteMode::All);
  /// Writes all of `buffers`, with nothing in between. Throws UsageError, and takes none of them,
  /// when they are more than kBuffersMax or hold more than kTransferMax bytes.
  WriteRequest(StreamHandle& stream, Buffers buffers);
  /// Sends up to kTransferMax of the `length` bytes of `file` from `offset` on; fewer when the file
  /// ends. They are read when their turn comes, as by a read at an offset. Fails with
  /// SendFileError. Abandoned, it is not sent when its turn has not come; else it goes on while
  /// `file` is open, and when that ends it early the stream's writing fails. Throws UsageError for
  /// a stream that is only read and for an offset that no file has.
  WriteRequest(StreamHandle& stream, FileHandle& file, std::uint64_t offset, std::uint64_t length);
  ~WriteRequest() override;
  void explain_wait(WaitFacts& facts, const CoroutineBase& waiter) const override;

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

  /// The other end, when that is in this process, as in a simulated world; else null.
  [[nodiscard]] virtual const StreamHandle* far_end() const noexcept { return nullptr; }

  [[nodiscard]] bool is_readable() const noexcept { return direction_ != Direction::Out; }
  [[nodiscard]] bool is_writable() const noexcept { return direction_ != Direction::In; }

  /// No more writes: the peer sees the end of the stream behind everything written so far. Throws
  /// InputOutputError on a closed stream. Idempotent.
  void shutdown_write();

  /// Sets the mode of a terminal. Throws InputOutputError for any other stream, and for a closed
  /// one.
  void set_terminal_mode(TerminalMode mode);
  [[nodiscard]] WindowSize window_size() const;

  /// Writes what the backend accepts now and returns how much; 0 when it accepts nothing, when
  /// other writes wait, and when a WriteRequest would fail. For writers that do not need a request.
  std::size_t write_at_once(std::span<const std::byte> data);

  /// Whether the peer has ended its side and everything it sent was read.
  [[nodiscard]] bool at_end() const noexcept { return ended_ && held().empty(); }

  /// Whether a read would end at once. What the system has does not count before somebody has
  /// waited for it.
  [[nodiscard]] bool answers_at_once() const noexcept {
    return is_closed() || (readers_.empty() && untaken_ == nullptr && has_input());
  }

  /// Throws UsageError, which begins with `operation`, for a stream that is only written.
  void require_readable(const char* operation) const {
    if (!is_readable()) [[unlikely]] {
      refuse_to_read(operation);
    }
  }

 protected:
  StreamHandle(detail::Attachment& attachment, IoType type, Direction direction = Direction::Both);
  ~StreamHandle() override;

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

  virtual int apply_mode(TerminalMode) { return ENOTTY; }
  virtual int read_window_size(WindowSize&) const { return ENOTTY; }

  /// Where the part for files sends bytes to directly; -1 when it cannot.
  [[nodiscard]] virtual int file_target() const noexcept { return -1; }
  /// The stream is closed, and the part for files uses file_target() no more.
  virtual void file_target_free() noexcept {}

  // --- for the backend ---

  /// Whether a reader waits for the bytes that come next.
  [[nodiscard]] bool may_serve() const noexcept { return !readers_.empty() && untaken_ == nullptr; }

  /// Where bytes that are there now should go: the first waiting reader's buffer, else `spare`.
  /// Nothing but received() may come between.
  [[nodiscard]] std::span<std::byte> read_target(std::span<std::byte> spare) noexcept;

  /// `data` arrived; it may lie in what read_target() gave.
  void received(std::span<const std::byte> data);
  void received_end();
  void receive_failed(int code);

  void write_done(int code);
  void connected(int code);

  /// Whether start_reading() was called, and stop_reading() was not since.
  [[nodiscard]] bool is_reading() const noexcept { return reading_; }

  /// Whether the part for files uses file_target() now.
  [[nodiscard]] bool file_target_in_use() const noexcept { return reading_file_; }

 private:
  friend class ConnectRequest;
  friend class FileHandle;
  friend class ReadableRequest;
  friend class ReadRequest;
  friend class WriteRequest;
  friend class Streams;

  /// The rest of a file that is to be sent.
  struct FilePart;

  /// Bytes that a write left for the backend, or a part of a file.
  struct PendingWrite {
    std::unique_ptr<std::byte[]> bytes;  // Of a file, the piece that is being written.
    std::size_t size = 0;
    std::size_t total = 0;            // Of the whole request.
    WriteRequest* request = nullptr;  // Null when it was abandoned.
    std::unique_ptr<FilePart> part;   // Null for bytes.
  };

  /// Reports what keeps an operation waiting: the user of the other end.
  void explain(WaitFacts& facts, const char* operation) const;
  [[noreturn]] void refuse_to_read(const char* operation) const;
  void require_writable(const char* operation) const;
  /// Answers waiting readers from what is there, and arms the backend for those who go on waiting.
  void serve_readers() {
    if (may_serve() && (!reading_ || has_input())) answer_readers();
    serve_watchers();
  }
  void answer_readers();
  /// Tells who waits for input without reading, when nobody who reads stands before them.
  void serve_watchers() {
    if (!watchers_.empty()) [[unlikely]] {
      tell_watchers();
    }
  }
  void tell_watchers();
  void arm_reading();
  /// Whether something is held, or nothing follows.
  [[nodiscard]] bool has_input() const noexcept {
    return !held().empty() || ended_ || read_code_ != 0;
  }
  std::size_t fill_reader(std::span<const std::byte> data) noexcept;
  void tell_satisfied_reader() noexcept;
  void end_reader();
  void stop_armed_reading() noexcept;
  void give_back(std::span<const std::byte> bytes);
  void write(WriteRequest& request, Buffers buffers, WriteMode mode);
  void submit(PendingWrite write);
  void submit_next_write();
  [[nodiscard]] PendingWrite end_write();
  void fail_writes(int code);
  void abandon_write(const WriteRequest& request) noexcept;
  void send_file(WriteRequest& request, std::unique_ptr<FilePart> part);
  void read_file();
  void file_read(FileOperation& operation, int code);
  void file_part_written();
  void end_file_part(std::exception_ptr error);
  [[nodiscard]] static std::exception_ptr file_error(const FilePart& part, int code);
  void fail_parked() override;
  [[nodiscard]] std::span<const std::byte> held() const noexcept {
    return std::span(held_).subspan(held_taken_);
  }

  ReadRequest::List readers_;       // The first one may have a part of what it wants.
  ReadRequest* untaken_ = nullptr;  // Completed, but its bytes are not accepted yet.
  ReadableRequest::List watchers_;
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
  bool reading_file_ = false;  // For the first write, on the file's side.
};

}  // namespace fermata::backend
