// SPDX-License-Identifier: Apache-2.0

// N pipes, each with one byte in it: whoever is called reads the byte and writes it again, so that
// every pipe is ready in each turn. An item is one call.

#include <fcntl.h>
#include <unistd.h>
#include <uv.h>

#include <array>
#include <deque>

#include "bench/loop/driver_rows.hpp"

namespace {

class Pipe final {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC) != 0) std::abort();
    write_byte('x');
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends_) ::close(end);
  }

  [[nodiscard]] int read_end() const noexcept { return ends_[0]; }

  void pass_on() noexcept {
    char byte = 0;
    if (::read(ends_[0], &byte, 1) == 1) write_byte(byte);
  }

 private:
  void write_byte(char byte) noexcept {
    if (::write(ends_[1], &byte, 1) != 1) std::abort();
  }

  std::array<int, 2> ends_{};
};

struct RawPipe {
  uv_poll_t watch;
  Pipe pipe;
  bench::CallCount* count;
};

void loop_pipes_floor(benchmark::State& state) {
  uv_loop_t loop;
  uv_loop_init(&loop);
  bench::CallCount count(state);
  std::deque<RawPipe> pipes(static_cast<std::size_t>(state.range(0)));
  for (RawPipe& each : pipes) {
    each.count = &count;
    uv_poll_init(&loop, &each.watch, each.pipe.read_end());
    each.watch.data = &each;
    uv_poll_start(&each.watch, UV_READABLE, [](uv_poll_t* watch, int, int) {
      auto& ready = *static_cast<RawPipe*>(watch->data);
      ready.pipe.pass_on();
      if (ready.count->last()) uv_stop(watch->loop);
    });
  }
  uv_run(&loop, UV_RUN_DEFAULT);
  for (RawPipe& each : pipes) uv_close(reinterpret_cast<uv_handle_t*>(&each.watch), nullptr);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
}
BENCHMARK(loop_pipes_floor)->Name("loop_pipes_uv/floor")->Arg(1)->Arg(100);

void loop_pipes_fermata(benchmark::State& state, fermata::loop::Loop& loop) {
  bench::CallCount count(state);
  std::deque<Pipe> pipes(static_cast<std::size_t>(state.range(0)));
  std::vector<fermata::loop::CallbackId> ids;
  for (Pipe& pipe : pipes) {
    ids.push_back(loop.on_readable(pipe.read_end(), [&] {
      pipe.pass_on();
      if (count.last()) loop.stop();
    }));
  }
  loop.run();
  for (const fermata::loop::CallbackId id : ids) loop.cancel(id);
}
const bool pipes_registered =
    bench::register_driver_rows("loop_pipes", {1, 100}, loop_pipes_fermata);

}  // namespace
