// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the parts of SystemKernel share: how calls are made again until they need not wait.

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "fermata/base/assert.hpp"
#include "fermata/os/clock.hpp"
#include "fermata/posix/suspending/system_kernel.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

/// A function's result as a kernel gives it: a negative errno instead of -1.
template <class Result>
[[nodiscard]] Result told(Result result) noexcept {
  return result >= 0 ? result : static_cast<Result>(-errno);
}

/// A limit from now on, as a point in time.
class End {
 public:
  explicit End(Limit limit) noexcept
      : at_(limit ? os::now() + *limit : Instant::never()), limited_(limit.has_value()) {}
  [[nodiscard]] Limit rest() const noexcept {
    if (!limited_) return std::nullopt;
    return std::max(Duration(at_ - os::now()), Duration::zero());
  }
  [[nodiscard]] bool is_over() const noexcept { return limited_ && os::now() >= at_; }

 private:
  Instant at_;
  bool limited_;
};

[[nodiscard]] inline std::size_t size_of(std::span<const iovec> pieces) noexcept {
  std::size_t size = 0;
  for (const iovec& each : pieces) size += each.iov_len;
  return size;
}

inline void drop_front(std::vector<iovec>& pieces, std::size_t size) noexcept {
  std::size_t whole = 0;
  while (whole < pieces.size() && size >= pieces[whole].iov_len) size -= pieces[whole++].iov_len;
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(whole));
  if (pieces.empty()) return;
  pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + size;
  pieces.front().iov_len -= size;
}

/// How long a call may wait yet, as its socket says; looked up when it has to wait.
class SystemKernel::Patience {
 public:
  [[nodiscard]] Limit rest(const Way& way) {
    if (way.patience == 0) return std::nullopt;
    if (!end_) end_.emplace(limit_of(way));
    return end_->rest();
  }

 private:
  [[nodiscard]] static Limit limit_of(const Way& way) noexcept {
    timeval limit = {};
    socklen_t size = sizeof limit;
    if (os::kernel.getsockopt(way.descriptor, SOL_SOCKET, way.patience, &limit, &size) != 0) {
      return std::nullopt;
    }
    if (limit.tv_sec == 0 && limit.tv_usec == 0) return std::nullopt;
    return std::chrono::seconds(limit.tv_sec) + std::chrono::microseconds(limit.tv_usec);
  }

  std::optional<End> end_;
};

template <class Attempt>
int SystemKernel::repeat(const Way& way, Patience& patience, const Attempt& attempt) {
  for (;;) {
    const int result = way.polls_first && !is_ready(way) ? -EAGAIN : attempt();
    if (result != -EAGAIN || way.waits == Waits::Never) return result;
    if (way.waits == Waits::AsItLooks && manner_of(way.descriptor) == Manner::NonBlocking) {
      return result;
    }
    const int waited = wait(way, patience.rest(way));
    if (waited == -ETIMEDOUT) return -EAGAIN;
    if (waited != 0) return waited;
  }
}

template <class Attempt>
ssize_t SystemKernel::transfer(const Way& way, std::span<const iovec> pieces,
                               const Attempt& attempt) {
  std::vector<iovec> left;  // Once a part is done.
  const std::size_t all = size_of(pieces);
  std::size_t moved = 0;
  Patience patience;
  for (;;) {
    ssize_t size = 0;
    const int code = repeat(way, patience, [&] {
      size = attempt(moved == 0 ? pieces : std::span<const iovec>(left));
      return size < 0 ? static_cast<int>(size) : 0;
    });
    if (code < 0) return moved > 0 ? static_cast<ssize_t>(moved) : code;
    moved += static_cast<std::size_t>(size);
    FERMATA_ASSERT(moved <= all || !way.whole);
    if (!way.whole || size == 0 || moved >= all) return static_cast<ssize_t>(moved);
    if (left.empty()) left.assign(pieces.begin(), pieces.end());
    drop_front(left, static_cast<std::size_t>(size));
  }
}

}  // namespace fermata::posix
