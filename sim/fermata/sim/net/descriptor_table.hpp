// SPDX-License-Identifier: Apache-2.0
#pragma once

// The descriptors of a simulated process: pairs of connected sockets in memory. What is written at
// one end has arrived at the other one.
//
// Numbers  From kFirstSimulatedDescriptor on; the lowest free one comes next.
// Faults   short-read, short-write (which may take nothing: EAGAIN), interrupted (EINTR), reset (in
//          a write: both ends get ECONNRESET, and what was not read is lost), out-of-descriptors.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fermata/reactor/poll.hpp"
#include "fermata/sim/machine/fault.hpp"
#include "fermata/sim/net/pipe.hpp"

namespace fermata::sim::detail {

class Machine;

/// Somebody who waits for readiness of a file.
class FileWatcher {
 public:
  /// It may be ready for something else now, or may have been closed.
  virtual void look() = 0;

 protected:
  ~FileWatcher() = default;
};

/// The object behind an open descriptor.
struct DescriptorFile {
  enum class Kind : std::uint8_t { Stream, Refused, Regular };

  /// The part of `wanted` that it is ready for; a hang-up in any case.
  [[nodiscard]] PollMask readiness(PollMask wanted) const noexcept;
  /// How it is, for people.
  [[nodiscard]] std::string state() const;

  Kind kind = Kind::Stream;
  int number = -1;
  std::uint64_t serial = 0;  // Never that of another file.
  std::uint64_t key = 0;     // Names it in the keys of draws.
  SourcePlace made_at;
  Pipe input;
  DescriptorFile* peer = nullptr;  // The other end of a stream; null when it was closed.
  bool shut = false;               // Nothing more is written here.
  bool broken = false;
  int error = 0;  // What take_error() tells.
  FileWatcher* watcher = nullptr;
};

class DescriptorTable final : public backend::DescriptorCalls {
 public:
  explicit DescriptorTable(Machine& machine) noexcept : machine_(machine) {}
  DescriptorTable(const DescriptorTable&) = delete;
  DescriptorTable& operator=(const DescriptorTable&) = delete;

  /// Null when it is not open.
  [[nodiscard]] DescriptorFile* find(int descriptor) const noexcept;
  /// The run is over: what is open is closed, and each is described by a line in `leaks`.
  void end_run(std::vector<std::string>& leaks);
  /// The step that runs looks at `file`.
  void looks_at(const DescriptorFile& file) const;

  DescriptorPair open_pair(const SourcePlace& place) override;
  int open_refused(const SourcePlace& place) override;
  int open_file(const SourcePlace& place) override;
  DescriptorTransfer read(int descriptor, std::span<std::byte> buffer) override;
  DescriptorTransfer write(int descriptor, std::span<const std::byte> data) override;
  int shut_down_writing(int descriptor) override;
  int close(int descriptor) override;
  int take_error(int descriptor) override;
  [[nodiscard]] bool is_open(int descriptor) const noexcept override;
  void exhaust(bool value) override { exhausted_ = value; }

 private:
  DescriptorFile& open(DescriptorFile::Kind kind, const SourcePlace& place);
  void require_room(const char* operation, const char* what);
  /// find(), and the step that runs uses what is found.
  [[nodiscard]] DescriptorFile* use(int descriptor);
  /// `does` says in reports what the fault does, with {} for the file.
  [[nodiscard]] bool strikes(Fault fault, const DescriptorFile& file, const char* draw,
                             const char* does);
  [[nodiscard]] std::string text(const DescriptorFile& file, const char* does) const;
  /// How many of `whole` bytes a read gives, or a write takes, which may be none.
  [[nodiscard]] std::size_t drawn_read(const DescriptorFile& file, std::size_t whole);
  [[nodiscard]] std::size_t drawn_write(const DescriptorFile& file, std::size_t whole);
  DescriptorTransfer write_stream(DescriptorFile& file, std::span<const std::byte> data);
  void break_down(DescriptorFile& file);
  void changed(const DescriptorFile* file) const;

  Machine& machine_;
  std::vector<std::unique_ptr<DescriptorFile>> files_;  // By number; null when it is free.
  std::size_t lowest_free_ = 0;                         // None below it is free.
  std::uint64_t files_made_ = 0;                        // In this run.
  bool exhausted_ = false;
};

}  // namespace fermata::sim::detail
