// SPDX-License-Identifier: Apache-2.0
#include "fermata/reactor/descriptor_calls.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::backend {

namespace {

constexpr rlim_t kMostWhenExhausted = 4096;
constexpr int kStream = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

int checked(int result, const char* operation) {
  if (result < 0) throw InputOutputError(operation, errno);
  return result;
}

/// Closes what is not kept.
class OpenSocket {
 public:
  explicit OpenSocket(const char* operation)
      : number_(checked(os::kernel.socket(AF_INET, kStream, 0), operation)) {}
  OpenSocket(const OpenSocket&) = delete;
  OpenSocket& operator=(const OpenSocket&) = delete;
  ~OpenSocket() {
    if (number_ >= 0) os::kernel.close(number_);
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int keep() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

class SystemDescriptorCalls final : public DescriptorCalls {
 public:
  DescriptorPair open_pair(const SourcePlace&) override {
    std::array<int, 2> ends{};
    checked(os::kernel.socketpair(AF_UNIX, kStream, 0, ends.data()), "open a pair of descriptors");
    return {ends[0], ends[1]};
  }

  // Nobody listens at a socket that is bound only, and nobody else can while it lives.
  int open_refused(const SourcePlace&) override {
    constexpr const char* kOperation = "open a descriptor that is refused";
    const OpenSocket deaf(kOperation);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    checked(os::kernel.bind(deaf.get(), raw, size), kOperation);
    checked(os::kernel.getsockname(deaf.get(), raw, &size), kOperation);
    OpenSocket client(kOperation);
    if (os::kernel.connect(client.get(), raw, size) != 0 && errno != EINPROGRESS) {
      throw InputOutputError(kOperation, errno);
    }
    return client.keep();
  }

  int open_file(const SourcePlace&) override {
    return checked(::memfd_create("fermata", MFD_CLOEXEC), "open a file");
  }

  DescriptorTransfer read(int descriptor, std::span<std::byte> buffer) override {
    return result_of(os::kernel.read(descriptor, buffer.data(), buffer.size()));
  }

  DescriptorTransfer write(int descriptor, std::span<const std::byte> data) override {
    const ssize_t sent = os::kernel.send(descriptor, data.data(), data.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) {
      return result_of(os::kernel.write(descriptor, data.data(), data.size()));
    }
    return result_of(sent);
  }

  int shut_down_writing(int descriptor) override {
    return os::kernel.shutdown(descriptor, SHUT_WR) == 0 ? 0 : errno;
  }

  int close(int descriptor) override { return os::kernel.close(descriptor) == 0 ? 0 : errno; }

  int take_error(int descriptor) override {
    int code = 0;
    socklen_t size = sizeof code;
    return os::kernel.getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code
                                                                                      : errno;
  }

  bool is_open(int descriptor) const noexcept override {
    return os::kernel.fcntl(descriptor, F_GETFD) != -1;
  }

  void exhaust(bool value) override {
    if (value == limit_.has_value()) return;
    value ? fill() : drain();
  }

 private:
  static DescriptorTransfer result_of(ssize_t size) noexcept {
    if (size < 0) return {0, errno};
    return {static_cast<std::size_t>(size), 0};
  }

  // The limit only keeps this short: whoever polls may not have more descriptors than it says.
  void fill() {
    FERMATA_ASSERT(fillers_.empty());
    rlimit limit = {};
    checked(::getrlimit(RLIMIT_NOFILE, &limit), "find the limit of descriptors");
    limit_ = limit.rlim_cur;
    limit.rlim_cur = std::min(limit.rlim_cur, kMostWhenExhausted);
    checked(::setrlimit(RLIMIT_NOFILE, &limit), "set the limit of descriptors");
    const int file = ::memfd_create("fermata", MFD_CLOEXEC);
    for (int each = file; each >= 0; each = os::kernel.fcntl(file, F_DUPFD_CLOEXEC, 0)) {
      fillers_.push_back(each);
    }
  }

  void drain() {
    FERMATA_ASSERT(limit_.has_value());
    for (const int each : fillers_) os::kernel.close(each);
    fillers_.clear();
    rlimit limit = {};
    checked(::getrlimit(RLIMIT_NOFILE, &limit), "find the limit of descriptors");
    limit.rlim_cur = *std::exchange(limit_, std::nullopt);
    checked(::setrlimit(RLIMIT_NOFILE, &limit), "set the limit of descriptors");
  }

  std::optional<rlim_t> limit_;  // What it was before; only while exhausted.
  std::vector<int> fillers_;
};

}  // namespace

DescriptorCalls& system_descriptor_calls() noexcept {
  static auto* const calls = new SystemDescriptorCalls;
  return *calls;
}

}  // namespace fermata::backend
