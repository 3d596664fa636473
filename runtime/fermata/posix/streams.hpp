// SPDX-License-Identifier: Apache-2.0
#pragma once

// Streams of stdio on descriptors of a kernel. They are made by fopencookie(), so that the C
// library buffers them as it buffers its own.
//
// Waiting   A stream of a file never suspends, so that nobody else comes between the parts of one
//           operation: the lock of the C library keeps out threads only. One of a socket or a pipe
//           suspends; whoever reads or writes it meanwhile gets EDEADLK.
// The end   When its process ends, what a stream has not written is lost. The stream itself ends as
//           well, unless an object of C++ has it, which closes it when it ends.

#include <sys/types.h>

#include <cstddef>
#include <cstdio>

namespace fermata::posix {

class Kernel;

/// A stream on `descriptor`, with a mode of fopen(); null, with errno, when there is no memory.
/// `closes_itself`: an object of C++ has it.
[[nodiscard]] std::FILE* make_stream(Kernel& kernel, int descriptor, const char* mode,
                                     bool closes_itself = false) noexcept;
/// The descriptor of a stream that make_stream() has made; -1 of any other one.
[[nodiscard]] int descriptor_of(const std::FILE* stream) noexcept;
/// From now on the stream is on this descriptor, with the mode of fopen(). What was buffered is
/// gone. REQUIRES: descriptor_of(stream) is not negative.
void redirect(std::FILE* stream, int descriptor, const char* mode) noexcept;
/// Writes what the streams of `kernel` have buffered. False, with errno, when one cannot.
[[nodiscard]] bool flush_streams(const Kernel& kernel) noexcept;
/// Ends the streams of `kernel`. They write nothing, and their descriptors are closed already.
void drop_streams(const Kernel& kernel) noexcept;

}  // namespace fermata::posix
