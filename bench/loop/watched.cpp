// SPDX-License-Identifier: Apache-2.0

// N descriptors are watched, of which always the same hundred are ready: what an item, one call,
// costs must not depend on N where the system does the looking.

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <deque>

#include "bench/loop/driver_rows.hpp"

namespace {

constexpr std::int64_t kReady = 100;

/// Readable forever if `ready`, otherwise never.
class Signal final {
 public:
  explicit Signal(bool ready) : descriptor_(::eventfd(ready ? 1 : 0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() { ::close(descriptor_); }

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

void allow_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void loop_watched_fermata(benchmark::State& state, fermata::loop::Loop& loop) {
  allow_descriptors();
  bench::CallCount count(state);
  std::deque<Signal> signals;
  std::vector<fermata::loop::CallbackId> ids;
  const std::int64_t spacing = state.range(0) / kReady;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const int descriptor = signals.emplace_back(i % spacing == 0).descriptor();
    ids.push_back(loop.on_readable(descriptor, [&] {
      if (count.last()) loop.stop();
    }));
  }
  loop.run();
  for (const fermata::loop::CallbackId id : ids) loop.cancel(id);
}
const bool watched_registered =
    bench::register_driver_rows("loop_watched", {100, 1'000, 8'000}, loop_watched_fermata);

}  // namespace
