// SPDX-License-Identifier: Apache-2.0
#include "fermata/poll/ev_backend.hpp"

#include <ev.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/os/wait_limit.hpp"

namespace fermata::poll::detail {

namespace {

class EvBackend final : public Backend {
 public:
  // The loop has nothing of the process: neither its environment nor its signals.
  EvBackend() : loop_(ev_loop_new(EVFLAG_NOENV)) {
    if (loop_ == nullptr) throw InputOutputError("create a loop of libev", ENOMEM);
    ev_init(&alarm_, [](struct ev_loop*, ev_timer*, int) noexcept {});
  }

  ~EvBackend() override {
    for (const auto& watch : watches_) {
      if (watch) ev_io_stop(loop_, &watch->io);
    }
    ev_loop_destroy(loop_);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "ev"; }

  // It asserts that what it watches is open.
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.kinds = PollMask::Readable | PollMask::Writable};
  }

  void watch(int descriptor, PollMask mask) override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index >= watches_.size()) watches_.resize(index + 1);
    if (!watches_[index]) watches_[index] = std::make_unique<Watch>(*this);
    ev_io& io = watches_[index]->io;
    ev_io_stop(loop_, &io);
    const int events = (any(mask & PollMask::Readable) ? EV_READ : 0) |
                       (any(mask & PollMask::Writable) ? EV_WRITE : 0);
    ev_io_set(&io, descriptor, events);  // libev asks the kernel anew: the number may be another's.
    ev_io_start(loop_, &io);
  }

  void unwatch(int descriptor) noexcept override {
    const auto index = static_cast<std::size_t>(descriptor);
    if (index < watches_.size() && watches_[index]) ev_io_stop(loop_, &watches_[index]->io);
  }

  void wait(Instant wake_by, Sink& sink) override {
    sink_ = &sink;
    const std::int64_t left = wake_by == Instant::never() ? -1 : os::nanoseconds_until(wake_by);
    if (left > 0) {
      ev_now_update(loop_);  // It reckons from the time of its last turn.
      ev_timer_set(&alarm_, static_cast<double>(left) * 1e-9, 0.0);
      ev_timer_start(loop_, &alarm_);
    }
    ev_run(loop_, left == 0 ? EVRUN_NOWAIT : EVRUN_ONCE);
    ev_timer_stop(loop_, &alarm_);
  }

  [[nodiscard]] void* native_handle() noexcept override { return loop_; }

 private:
  struct Watch {
    explicit Watch(EvBackend& backend) {
      ev_init(&io, on_ready);
      io.data = &backend;
    }

    ev_io io;
  };

  static void on_ready(struct ev_loop*, ev_io* io, int events) noexcept {
    PollMask mask = PollMask::None;
    if ((events & EV_READ) != 0) mask |= PollMask::Readable;
    if ((events & EV_WRITE) != 0) mask |= PollMask::Writable;
    if ((events & EV_ERROR) != 0) mask |= PollMask::Disconnect;
    static_cast<EvBackend*>(io->data)->sink_->ready(io->fd, mask);
  }

  struct ev_loop* loop_;
  ev_timer alarm_;
  std::vector<std::unique_ptr<Watch>> watches_;  // By descriptor.
  Sink* sink_ = nullptr;                         // Of the wait.
};

}  // namespace

std::unique_ptr<Backend> make_ev_backend() { return std::make_unique<EvBackend>(); }

}  // namespace fermata::poll::detail
