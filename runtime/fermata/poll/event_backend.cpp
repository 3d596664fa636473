// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/event_backend.hpp"

#include <dlfcn.h>
#include <event2/event.h>
#include <event2/event_struct.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/os/alarm.hpp"
#include "fermata/os/clock.hpp"

namespace fermata::poll::detail {

namespace {

/// Where the program found a function; null when it is not from a shared library.
void* library_of(const char* function) {
  Dl_info info = {};
  void* const address = ::dlsym(RTLD_DEFAULT, function);
  return address != nullptr && ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// libev has functions of its own with names of libevent, which crash where libevent's are meant.
void refuse_functions_of_libev() {
  if (library_of("event_add") == library_of("event_config_new")) return;
  throw UsageError(
      "this program finds functions of libev under the names of libevent: expected it "
      "to be linked with libevent before libev");
}

/// Null when there is no memory, or no descriptor.
event_base* make_base() {
  refuse_functions_of_libev();
  event_config* const config = event_config_new();
  if (config == nullptr) return nullptr;
  event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
  event_base* const base = event_base_new_with_config(config);
  event_config_free(config);
  return base;
}

class EventBackend final : public Backend {
 public:
  EventBackend() : base_(make_base()) {
    if (base_ == nullptr) throw InputOutputError("create a base of libevent", ENOMEM);
    event_assign(&alarm_watch_, base_, alarm_.descriptor(), EV_READ | EV_PERSIST, on_alarm,
                 &alarm_);
    event_add(&alarm_watch_, nullptr);
  }

  ~EventBackend() override {
    event_del(&alarm_watch_);
    for (const auto& watch : watches_) {
      if (watch) event_del(&watch->event);
    }
    event_base_free(base_);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "event"; }

  // It complains on standard error of what is not open.
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.kinds = PollMask::Readable | PollMask::Writable};
  }

  void watch(int descriptor, PollMask mask) override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= watches_.size()) watches_.resize(index + 1);
    if (watches_[index]) {
      event_del(&watches_[index]->event);
    } else {
      watches_[index] = std::make_unique<Watch>();
    }
    const int events = EV_PERSIST | (any(mask & PollMask::Readable) ? EV_READ : 0) |
                       (any(mask & PollMask::Writable) ? EV_WRITE : 0);
    event& watch = watches_[index]->event;
    event_assign(&watch, base_, descriptor, static_cast<short>(events), on_ready, this);
    if (event_add(&watch, nullptr) != 0) {
      throw PollError("watch descriptor " + std::to_string(descriptor), errno);
    }
  }

  void unwatch(int descriptor) noexcept override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index < watches_.size() && watches_[index]) event_del(&watches_[index]->event);
  }

  void wait(Instant wake_by, Sink& sink) override {
    sink_ = &sink;
    const bool waits = wake_by > os::now();
    if (waits) alarm_.set(wake_by);
    // Without ONCE it would go on for as long as anything is ready.
    const int result = event_base_loop(base_, EVLOOP_ONCE | (waits ? 0 : EVLOOP_NONBLOCK));
    if (result < 0) throw PollError("wait with libevent", errno);
  }

  [[nodiscard]] void* native_handle() noexcept override { return base_; }

 private:
  struct Watch {
    struct event event;
  };

  static void on_ready(evutil_socket_t descriptor, short events, void* backend) noexcept {
    PollMask mask = PollMask::None;
    if ((events & EV_READ) != 0) mask |= PollMask::Readable;
    if ((events & EV_WRITE) != 0) mask |= PollMask::Writable;
    static_cast<EventBackend*>(backend)->sink_->ready(descriptor, mask);
  }

  static void on_alarm(evutil_socket_t, short, void* alarm) noexcept {
    static_cast<os::Alarm*>(alarm)->acknowledge();
  }

  os::Alarm alarm_;  // Timers of libevent's would be early by a tick of the kernel, or cost a call.
  event_base* base_;
  event alarm_watch_;
  std::vector<std::unique_ptr<Watch>> watches_;  // By descriptor.
  Sink* sink_ = nullptr;                         // Of the wait.
};

}  // namespace

std::unique_ptr<Backend> make_event_backend() { return std::make_unique<EventBackend>(); }

}  // namespace fermata::poll::detail
