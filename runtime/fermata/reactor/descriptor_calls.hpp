// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a program does itself with the descriptors that it watches. With a real reactor these are
// the system's calls, in simulation they go to the simulated process, so that one body of code runs
// on both: fermata::descriptor_calls() are those of the current runtime.
//
// Blocking    Nothing blocks: what is opened here is non-blocking.
// Numbers     As everywhere, the lowest free number comes next, so that a number means another file
//             soon after it was closed. Those of a simulated process are not those of the real one.
// Ownership   The program closes what it has opened, once.

#include <cstddef>
#include <span>

#include "fermata/base/source_place.hpp"

namespace fermata {

struct DescriptorPair {
  int first = -1;
  int second = -1;
};

/// The result of a read or a write.
struct DescriptorTransfer {
  std::size_t size = 0;  // May be less than was asked for. Of a read that has no error 0: the end.
  int code = 0;          // An errno: EAGAIN (not now), EINTR (try again), EPIPE, ECONNRESET, EBADF.
};

}  // namespace fermata

namespace fermata::backend {

class DescriptorCalls {
 public:
  virtual ~DescriptorCalls() = default;

  /// Two stream sockets that are connected with each other. Throws InputOutputError, EMFILE when
  /// the process has no descriptor left.
  [[nodiscard]] virtual DescriptorPair open_pair(
      const SourcePlace& place = SourcePlace::current()) = 0;
  /// A socket whose connect was begun and refused: ready for everything, and take_error() tells
  /// ECONNREFUSED. Throws InputOutputError.
  [[nodiscard]] virtual int open_refused(const SourcePlace& place = SourcePlace::current()) = 0;
  /// An empty regular file without a name, which cannot be watched. Throws InputOutputError.
  [[nodiscard]] virtual int open_file(const SourcePlace& place = SourcePlace::current()) = 0;

  virtual DescriptorTransfer read(int descriptor, std::span<std::byte> buffer) = 0;
  /// Raises no SIGPIPE.
  virtual DescriptorTransfer write(int descriptor, std::span<const std::byte> data) = 0;
  /// Nothing more is written here: the other end reads the end behind what was. Returns an errno.
  virtual int shut_down_writing(int descriptor) = 0;
  /// Unread bytes break the connection: the other end gets ECONNRESET. Returns an errno.
  virtual int close(int descriptor) = 0;
  /// Takes the pending error of a socket, as SO_ERROR does: an errno value.
  [[nodiscard]] virtual int take_error(int descriptor) = 0;

  [[nodiscard]] virtual bool is_open(int descriptor) const noexcept = 0;

  /// While `value`, nothing finds a free descriptor: EMFILE. For tests of what a program does then;
  /// a real process has them all, and a lower limit. Throws InputOutputError.
  virtual void exhaust(bool value) = 0;
};

/// The system's. Of the whole process; for any thread.
[[nodiscard]] DescriptorCalls& system_descriptor_calls() noexcept;

}  // namespace fermata::backend
