// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/core/runtime.hpp"
#include "fermata/reactor/closed_error.hpp"
#include "fermata/reactor/file_part.hpp"
#include "fermata/reactor/streams.hpp"

namespace fermata::backend {

namespace {

constexpr const char* kCannotRead = "Cannot read from closed IO handle";
constexpr const char* kCannotWrite = "Cannot write to closed IO handle";

/// What follows the first `skipped` of the `total` bytes.
std::unique_ptr<std::byte[]> copy_of_rest(Buffers buffers, std::size_t skipped, std::size_t total) {
  FERMATA_ASSERT(skipped < total);
  auto rest = std::make_unique<std::byte[]>(total - skipped);
  std::byte* to = rest.get();
  for (std::span<const std::byte> each : buffers) {
    const std::size_t gone = std::min(skipped, each.size());
    skipped -= gone;
    to = std::copy(each.begin() + static_cast<std::ptrdiff_t>(gone), each.end(), to);
  }
  return rest;
}

}  // namespace

std::size_t size_of(Buffers buffers) noexcept {
  std::size_t size = 0;
  for (const std::span<const std::byte> each : buffers) size += each.size();
  return size;
}

ReadRequest::ReadRequest(StreamHandle& stream, std::span<std::byte> buffer, ReadMode mode)
    : Request(stream.runtime(), "read"),
      stream_(Ref<StreamHandle>::share(stream)),
      buffer_(mode == ReadMode::All ? buffer : buffer.first(std::min(buffer.size(), kTransferMax))),
      mode_(mode) {
  FERMATA_REQUIRE(!buffer.empty(), "read: expected a buffer of at least one byte");
  stream.require_readable("read");
  runtime().kernel().log_wait(WaitAct::Used, stream, nullptr);
  if (stream.is_closed()) [[unlikely]] {
    fail(detail::closed_error(kCannotRead));
  } else {
    stream.readers_.push_back(*this);
    stream.serve_readers();
  }
}

void ReadRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  stream_->explain(facts, "read");
}

ReadRequest::~ReadRequest() {
  if (!is_completed()) {
    stream_->readers_.remove(*this);
  } else if (stream_->untaken_ == this) {
    stream_->untaken_ = nullptr;
  } else {
    return;
  }
  if (filled_ == 0 || stream_->is_closed()) return;
  stream_->give_back(filled());
  stream_->serve_readers();
}

std::size_t ReadRequest::take() noexcept {
  if (stream_->untaken_ == this) {
    stream_->untaken_ = nullptr;
    stream_->serve_readers();
  }
  return transferred();
}

ReadableRequest::ReadableRequest(StreamHandle& stream)
    : Request(stream.runtime(), "await_readable"), stream_(Ref<StreamHandle>::share(stream)) {
  stream.require_readable("await_readable");
  runtime().kernel().log_wait(WaitAct::Used, stream, nullptr);
  if (stream.is_closed()) {
    fail(detail::closed_error(kCannotRead));
  } else {
    stream.watchers_.push_back(*this);
    stream.serve_watchers();
  }
}

ReadableRequest::~ReadableRequest() {
  if (!is_completed()) stream_->watchers_.remove(*this);
}

void ReadableRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  stream_->explain(facts, "await input");
}

WriteRequest::WriteRequest(StreamHandle& stream, std::span<const std::byte> data, WriteMode mode)
    : Request(stream.runtime(), "write"), stream_(Ref<StreamHandle>::share(stream)) {
  stream.require_writable("write");
  data = data.first(std::min(data.size(), kTransferMax));
  runtime().kernel().log_wait(WaitAct::Used, stream, nullptr);
  stream.write(*this, {&data, 1}, mode);
}

void WriteRequest::explain_wait(WaitFacts& facts, const CoroutineBase&) const {
  stream_->explain(facts, "write");
}

WriteRequest::WriteRequest(StreamHandle& stream, Buffers buffers)
    : Request(stream.runtime(), "write"), stream_(Ref<StreamHandle>::share(stream)) {
  stream.require_writable("write");
  if (buffers.size() > kBuffersMax) {
    throw UsageError(
        fmt::format("write: {} buffers, expected at most {} at once", buffers.size(), kBuffersMax));
  }
  if (const std::size_t size = size_of(buffers); size > kTransferMax) {
    throw UsageError(fmt::format("write: buffers of {} bytes in all, expected at most {} at once",
                                 size, kTransferMax));
  }
  stream.write(*this, buffers, WriteMode::All);
}

WriteRequest::~WriteRequest() {
  if (!is_completed()) stream_->abandon_write(*this);
}

StreamHandle::StreamHandle(detail::Attachment& attachment, IoType type, Direction direction)
    : IoHandle(attachment, type), direction_(direction) {}

StreamHandle::~StreamHandle() = default;

void StreamHandle::explain(WaitFacts& facts, const char* operation) const {
  facts.is("connection", peer_address().text(), made_at());
  facts.wanted(operation);
  if (const StreamHandle* other = far_end()) facts.across(*this, *other);
}

void StreamHandle::refuse_to_read(const char* operation) const {
  const bool pipe = io_type() == IoType::Pipe;
  throw UsageError(fmt::format("{}: this is {}", operation,
                               pipe ? "the writing end of a pipe" : "for writing only"));
}

void StreamHandle::require_writable(const char* operation) const {
  if (is_writable()) return;
  const bool pipe = io_type() == IoType::Pipe;
  throw UsageError(fmt::format("{}: this is {}", operation,
                               pipe ? "the reading end of a pipe" : "for reading only"));
}

// --- reading ---

void StreamHandle::answer_readers() {
  while (may_serve()) {
    if (!held().empty()) {
      const std::size_t size = fill_reader(held());
      held_taken_ += size;
      if (held().empty()) {
        held_ = {};
        held_taken_ = 0;
      }
      tell_satisfied_reader();
    } else if (ended_ || read_code_ != 0) {
      end_reader();
    } else if (reading_) {
      return;
    } else {
      arm_reading();
    }
  }
}

void StreamHandle::tell_watchers() {
  FERMATA_ASSERT(!watchers_.empty());
  FERMATA_ASSERT(!is_closed());
  if (!has_input() && !reading_) arm_reading();
  while (answers_at_once()) {
    ReadableRequest* const watcher = watchers_.first();
    if (watcher == nullptr) return;
    watchers_.remove(*watcher);
    watcher->complete(0);
  }
}

void StreamHandle::arm_reading() {
  FERMATA_ASSERT(!reading_);
  FERMATA_ASSERT(!has_input());
  read_code_ = start_reading();
  reading_ = read_code_ == 0;
}

/// Moves bytes to the first reader, which becomes the untaken one when it has what it wants.
[[gnu::always_inline]] inline std::size_t StreamHandle::fill_reader(
    std::span<const std::byte> data) noexcept {
  FERMATA_ASSERT(may_serve());
  FERMATA_ASSERT(!data.empty());
  ReadRequest& reader = *readers_.first();
  const std::span<std::byte> to = reader.rest();
  FERMATA_ASSERT(!to.empty());
  const std::size_t size = std::min(to.size(), data.size());
  if (to.data() != data.data()) std::memcpy(to.data(), data.data(), size);
  reader.filled_ += size;
  FERMATA_ASSERT(reader.filled_ <= reader.buffer_.size());
  if (reader.is_satisfied()) {
    readers_.remove(reader);
    untaken_ = &reader;
  }
  return size;
}

[[gnu::always_inline]] inline void StreamHandle::tell_satisfied_reader() noexcept {
  FERMATA_ASSERT(untaken_ == nullptr || untaken_->is_satisfied());
  if (untaken_ != nullptr) untaken_->complete(untaken_->filled_);
}

/// Nothing follows for the first reader: it fails, or gets what it has at the end of the stream.
void StreamHandle::end_reader() {
  FERMATA_ASSERT(held().empty());
  FERMATA_ASSERT(ended_ || read_code_ != 0);
  FERMATA_ASSERT(untaken_ == nullptr);
  ReadRequest& reader = *readers_.first();
  readers_.remove(reader);
  if (ended_) {
    if (reader.filled_ > 0) untaken_ = &reader;
    return reader.complete(reader.filled_);
  }
  if (reader.filled_ > 0) give_back(reader.filled());
  reader.fail(read_code_);
}

void StreamHandle::received(std::span<const std::byte> data) {
  while (!data.empty() && may_serve() && held().empty()) {
    data = data.subspan(fill_reader(data));
    tell_satisfied_reader();
  }
  if (data.empty() || is_closed()) return;
  held_.insert(held_.end(), data.begin(), data.end());
  stop_armed_reading();
  serve_watchers();
}

void StreamHandle::received_end() {
  ended_ = true;
  stop_armed_reading();
  serve_readers();
}

void StreamHandle::receive_failed(int code) {
  FERMATA_ASSERT(code > 0);
  read_code_ = code;
  stop_armed_reading();
  serve_readers();
}

void StreamHandle::stop_armed_reading() noexcept {
  if (std::exchange(reading_, false)) stop_reading();
}

std::span<std::byte> StreamHandle::read_target(std::span<std::byte> spare) noexcept {
  if (!may_serve() || !held().empty()) return spare;
  const std::span<std::byte> rest = readers_.first()->rest();
  return rest.first(std::min(rest.size(), kTransferMax));
}

/// The next reader gets them.
void StreamHandle::give_back(std::span<const std::byte> bytes) {
  FERMATA_ASSERT(!bytes.empty());
  std::vector<std::byte> whole(bytes.begin(), bytes.end());
  whole.insert(whole.end(), held().begin(), held().end());
  held_ = std::move(whole);
  held_taken_ = 0;
}

// --- writing ---

void StreamHandle::write(WriteRequest& request, Buffers buffers, WriteMode mode) {
  if (is_closed()) return request.fail(detail::closed_error(kCannotWrite));
  if (write_shut_) return request.fail(EPIPE);
  if (write_code_ != 0) return request.fail(write_code_);
  const std::size_t total = size_of(buffers);
  if (total == 0) return request.complete(0);
  Written written;
  if (writes_.empty()) {
    written = try_write(buffers);
    FERMATA_ASSERT(written.accepted <= total);
    if (written.code != 0) {
      write_code_ = written.code;
      return request.fail(written.code);
    }
    const std::size_t accepted = written.accepted;
    const bool enough = accepted == total || (mode == WriteMode::Some && accepted > 0);
    if (enough) return request.complete(accepted);
  }
  submit({copy_of_rest(buffers, written.accepted, total), total - written.accepted, total, &request,
          nullptr});
}

void StreamHandle::submit(PendingWrite write) {
  FERMATA_ASSERT(write.request != nullptr);
  FERMATA_ASSERT(!write_shut_);
  writes_.push_back(std::move(write));
  if (writes_.size() == 1) submit_next_write();
}

std::size_t StreamHandle::write_at_once(std::span<const std::byte> data) {
  if (is_closed() || write_shut_ || write_code_ != 0 || !writes_.empty()) return 0;
  if (data.empty() || !is_writable()) return 0;
  data = data.first(std::min(data.size(), kTransferMax));
  FERMATA_ASSERT(writes_.empty());
  runtime().kernel().log_wait(WaitAct::Used, *this, nullptr);
  const Written written = try_write({&data, 1});
  FERMATA_ASSERT(written.accepted <= data.size());
  write_code_ = written.code;
  return written.accepted;
}

void StreamHandle::submit_next_write() {
  FERMATA_ASSERT(!writes_.empty());
  FERMATA_ASSERT(!reading_file_);
  const PendingWrite& next = writes_.front();
  if (next.part && next.size == 0) return read_file();
  FERMATA_ASSERT(next.size > 0);
  const int code = submit_write({next.bytes.get(), next.size});
  if (code != 0) fail_writes(code);
}

void StreamHandle::write_done(int code) {
  if (is_closed()) return;  // The bytes go with the handle.
  if (code != 0) return fail_writes(code);
  FERMATA_ASSERT(!writes_.empty());
  if (writes_.front().part) return file_part_written();
  const PendingWrite done = end_write();
  if (done.request != nullptr) done.request->complete(done.total);
}

/// The first write has ended; the next one begins.
StreamHandle::PendingWrite StreamHandle::end_write() {
  FERMATA_ASSERT(!writes_.empty());
  PendingWrite ended = std::move(writes_.front());
  writes_.pop_front();
  if (!writes_.empty()) {
    submit_next_write();
  } else if (write_shut_) {
    FERMATA_ASSERT(write_code_ == 0);
    submit_shutdown();
  }
  return ended;
}

void StreamHandle::fail_writes(int code) {
  FERMATA_ASSERT(code > 0);
  write_code_ = code;
  while (!writes_.empty()) {
    const PendingWrite write = std::move(writes_.front());
    writes_.pop_front();
    if (write.request == nullptr) continue;
    if (write.part) {
      write.request->fail(file_error(*write.part, code));
    } else {
      write.request->fail(code);
    }
  }
}

void StreamHandle::abandon_write(const WriteRequest& request) noexcept {
  const auto write = std::find_if(writes_.begin(), writes_.end(),
                                  [&](const auto& each) { return each.request == &request; });
  if (write == writes_.end()) return;
  write->request = nullptr;
  if (write->part && write != writes_.begin()) writes_.erase(write);
}

void StreamHandle::shutdown_write() {
  if (is_closed()) throw InputOutputError(kCannotWrite);
  require_writable("shutdown_write");
  if (std::exchange(write_shut_, true)) return;
  if (writes_.empty() && write_code_ == 0) submit_shutdown();
}

// --- of a terminal ---

void StreamHandle::set_terminal_mode(TerminalMode mode) {
  if (is_closed()) throw InputOutputError("Cannot set the mode of closed IO handle");
  if (const int code = apply_mode(mode)) throw InputOutputError("set terminal mode", code);
}

WindowSize StreamHandle::window_size() const {
  if (is_closed()) throw InputOutputError("Cannot tell the window size of closed IO handle");
  WindowSize size;
  if (const int code = read_window_size(size)) throw InputOutputError("window size", code);
  return size;
}

// --- connecting and closing ---

void StreamHandle::connected(int code) {
  FERMATA_ASSERT(code >= 0);
  if (connecting_ != nullptr) std::exchange(connecting_, nullptr)->established(code);
}

void StreamHandle::fail_parked() {
  FERMATA_ASSERT(is_closed());
  detail::ParkedError error;
  reading_ = false;
  if (connecting_ != nullptr) std::exchange(connecting_, nullptr)->fail(error.get());
  while (ReadRequest* reader = readers_.first()) {
    readers_.remove(*reader);
    reader->fail(error.get());
  }
  while (ReadableRequest* watcher = watchers_.first()) {
    watchers_.remove(*watcher);
    watcher->fail(error.get());
  }
  for (PendingWrite& write : writes_) {
    if (write.request != nullptr) std::exchange(write.request, nullptr)->fail(error.get());
  }
}

}  // namespace fermata::backend
