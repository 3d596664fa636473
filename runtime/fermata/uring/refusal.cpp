// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/refusal.hpp"

#include <fmt/format.h>
#include <liburing.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::uring::detail {

namespace {

constexpr const char* kSwitch = "/proc/sys/kernel/io_uring_disabled";
constexpr unsigned kOperationsProbed = 256;

/// The system's setting as text; empty where there is none.
std::string setting() {
  const int descriptor = os::kernel.open(kSwitch, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::array<char, 16> text{};
  const ssize_t size = os::kernel.read(descriptor, text.data(), text.size());
  os::kernel.close(descriptor);
  std::string value(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  value.resize(value.find_last_not_of(" \n") + 1);
  return value;
}

/// "create an io_uring", with what may keep the process from it.
std::string operation(int code) {
  constexpr const char* kOperation = "create an io_uring";
  if (code == ENOSYS) return fmt::format("{} (the kernel has none, or hides it)", kOperation);
  if (code != EPERM && code != EACCES) return kOperation;
  const std::string value = setting();
  if (value.empty() || value == "0") {
    return fmt::format("{} (a filter of system calls or a security module refuses it)", kOperation);
  }
  return fmt::format("{} ({} is {})", kOperation, kSwitch, value);
}

/// What came with Linux 6.0, as multishot receives did, which cannot be asked for.
bool is_new_enough(int ring) {
  struct FreeProbe {
    void operator()(io_uring_probe* probe) const { ::operator delete(probe); }
  };
  const std::size_t size = sizeof(io_uring_probe) + kOperationsProbed * sizeof(io_uring_probe_op);
  void* const memory = ::operator new(size);
  std::fill_n(static_cast<std::byte*>(memory), size, std::byte{});
  const std::unique_ptr<io_uring_probe, FreeProbe> probe(static_cast<io_uring_probe*>(memory));
  if (os::kernel.syscall(SYS_io_uring_register, ring, IORING_REGISTER_PROBE, probe.get(),
                         kOperationsProbed) != 0) {
    return false;
  }
  return io_uring_opcode_supported(probe.get(), IORING_OP_SEND_ZC) != 0;
}

}  // namespace

void require_available() {
  io_uring_params parameters = {};
  const auto ring = static_cast<int>(os::kernel.syscall(SYS_io_uring_setup, 1, &parameters));
  if (ring < 0) {
    const int code = errno;
    throw InputOutputError(operation(code), code);
  }
  const bool good = is_new_enough(ring);
  os::kernel.close(ring);
  if (!good) throw InputOutputError("create an io_uring (Linux 6.0 is needed)", ENOSYS);
}

}  // namespace fermata::uring::detail
