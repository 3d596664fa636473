// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fermata/core/suspend.hpp"
#include "fermata/reactor/poll.hpp"

namespace fermata {

enum class DescriptorOwner : std::uint8_t {
  Caller,   // stays open
  Runtime,  // closed when the runtime has let go of it
};

/// Waits for readiness of a descriptor that some library or the program itself has opened: a
/// socket, a pipe, a device. Several may watch one descriptor.
class Descriptor {
 public:
  /// Throws PollError when it cannot be watched: it is not open, or a regular file.
  explicit Descriptor(int descriptor, DescriptorOwner owner = DescriptorOwner::Caller,
                      const SourcePlace& place = SourcePlace::current());

  /// Waits until some of `mask` holds and returns what does. Hang-up, an error and a descriptor
  /// that was closed meanwhile end every wait, with Disconnect. Throws PollError on a descriptor
  /// that was closed before.
  PollMask wait(PollMask mask, const WaitOptions& options = {},
                SourcePlace place = SourcePlace::current());
  PollMask wait_readable(const WaitOptions& options = {},
                         SourcePlace place = SourcePlace::current()) {
    return wait(PollMask::Readable, options, place);
  }
  PollMask wait_writable(const WaitOptions& options = {},
                         SourcePlace place = SourcePlace::current()) {
    return wait(PollMask::Writable, options, place);
  }

  /// Ends every wait on this descriptor with PollError.
  void close() noexcept { poll_->close(); }

  [[nodiscard]] backend::Poll& poll() const noexcept { return *poll_; }

 private:
  Ref<backend::Poll> poll_;
};

/// How the program reads, writes and closes descriptors of the current runtime. Throws Unsupported
/// when its reactor has no polls.
[[nodiscard]] backend::DescriptorCalls& descriptor_calls();

}  // namespace fermata
