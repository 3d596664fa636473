// SPDX-License-Identifier: Apache-2.0
#include "fermata/posix/suspending/descriptor_wait.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <deque>
#include <optional>

#include "fermata/base/error.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/reactor/poll.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::posix {

namespace {

// Who waits for nothing asks again then.
constexpr Duration kForever = std::chrono::hours(1);

using Proxies = std::deque<backend::PollProxy>;

PollMask mask_of(short events) noexcept {
  PollMask mask = PollMask::Disconnect;
  if ((events & (POLLIN | POLLRDNORM | POLLRDHUP)) != 0) mask |= PollMask::Readable;
  if ((events & (POLLOUT | POLLWRNORM)) != 0) mask |= PollMask::Writable;
  if ((events & POLLPRI) != 0) mask |= PollMask::Prioritized;
  return mask;
}

/// A file that is always ready for what it can do. Nobody was asking for that, or would not wait.
bool is_always_ready(int descriptor) noexcept {
  struct stat status = {};
  return os::kernel.fstat(descriptor, &status) == 0 &&
         (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

/// 0 or a negative errno.
int add(Proxies& proxies, const pollfd& asked) {
  if (asked.fd < 0 || is_always_ready(asked.fd)) return 0;
  try {
    const Ref<backend::Poll> poll = current_runtime().reactor().polls().open(asked.fd);
    proxies.emplace_back(*poll, mask_of(asked.events));
    return 0;
  } catch (const PollError& error) {
    return error.code() != 0 ? -error.code() : -EBADF;
  }
}

/// No registration is left when the wait is over, however it ends.
class Registered {
 public:
  explicit Registered(backend::Waker& waker) noexcept : waker_(waker) { waker_.clear(); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;
  ~Registered() { waker_.clear(); }

 private:
  backend::Waker& waker_;
};

void wait_for_any(Proxies& proxies, Limit limit, const SourcePlace& place) {
  Runtime& runtime = current_runtime();
  backend::Waker& waker = runtime.scheduler().require_suspendable("wait").waker();
  std::optional<Timer> timer;
  const Registered registered(waker);
  for (backend::PollProxy& each : proxies) waker.resume_when(each, backend::WakeRule::Resolve);
  if (limit) {
    timer.emplace(runtime, *limit);
    waker.resume_when(*timer, backend::WakeRule::Timeout);
  }
  runtime.scheduler().suspend(place);
}

}  // namespace

// A wait that cannot be started, since a descriptor was closed meanwhile, has an end all the same.
int wait_for_descriptors(std::span<const pollfd> asked, Limit limit, const SourcePlace& place) {
  Proxies proxies;
  for (const pollfd& each : asked) {
    if (const int code = add(proxies, each)) return code;
  }
  try {
    if (proxies.empty() && !limit) {
      delay(kForever, place);
    } else if (proxies.size() == 1) {
      wait(proxies.front(), {.timeout = limit}, place);
    } else {
      wait_for_any(proxies, limit, place);
    }
    return 0;
  } catch (const PollError& error) {
    return error.code() != 0 ? -error.code() : -EBADF;
  }
}

}  // namespace fermata::posix
