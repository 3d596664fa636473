// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a case of the callback loop's conformance list runs on: a driver, and the world around it.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fermata/base/function_ref.hpp"
#include "fermata/base/time.hpp"
#include "fermata/loop/loop.hpp"

namespace fermata::conformance {

using namespace std::chrono_literals;

/// The two ends of a stream, by descriptor.
struct StreamPair {
  int near = -1;
  int far = -1;
};

class LoopArm {
 public:
  LoopArm() = default;
  LoopArm(const LoopArm&) = delete;
  LoopArm& operator=(const LoopArm&) = delete;
  virtual ~LoopArm() = default;

  /// Runs `body` as a program's main coroutine, which may use the rest; throws what ends it.
  virtual void run(detail::FunctionRef<void()> body) = 0;

  // --- inside of run ---

  [[nodiscard]] loop::Loop& loop() noexcept { return *loop_; }

  /// Lets the loop run until it has nothing left to do or is stopped, and throws what run() throws:
  /// it is run(), where the loop has no host.
  virtual void drive() { loop().run(); }

  /// Time passes in a callback, and nothing else can happen.
  virtual void block_for(Duration span) = 0;

  /// The program gets `signum`.
  virtual void raise(int signum) = 0;

  /// Connected streams, which do not block; closed after the body.
  StreamPair stream_pair();
  /// A stream that can always be written, and one on which nothing ever comes.
  [[nodiscard]] int always_writable() { return stream_pair().near; }
  [[nodiscard]] int never_readable() { return stream_pair().near; }
  /// All of `bytes`, for which there must be room.
  void write(int descriptor, std::string_view bytes);
  /// What there is, up to `limit`; empty at the end of the stream. Throws InputOutputError.
  std::string read(int descriptor, std::size_t limit);
  void close(int descriptor);
  /// `descriptor` is closed after the body as well.
  int keep(int descriptor);

  // --- what it is ---

  /// Whether time passes exactly as it is told to.
  [[nodiscard]] virtual bool is_exact() const noexcept { return false; }
  /// How late a timer may be.
  [[nodiscard]] Duration slack() const noexcept { return is_exact() ? Duration(0) : 100ms; }
  [[nodiscard]] virtual bool is_hosted() const noexcept { return false; }
  /// Where nobody can suspend main: checks that this is said so.
  [[nodiscard]] virtual bool refuses_to_suspend_main() { return false; }

 protected:
  /// Calls `body`, in a coroutine, with a loop.
  void with_loop(const loop::LoopOptions& options, detail::FunctionRef<void()> body);

 private:
  void close_all() noexcept;

  loop::Loop* loop_ = nullptr;
  std::vector<int> open_;
};

/// How to make an arm, and which cases it has.
struct ArmKind {
  std::string_view name;
  std::unique_ptr<LoopArm> (*make)() = nullptr;
  /// The driver of its reactor, by the factory's name; empty when the factory does not know it.
  std::string_view driver;
  bool is_real = true;  // Has the cases marked R.
  /// Has the cases marked O and T: calls in the tick's own order, and so draws nothing.
  bool is_canonical = true;
  bool is_select = false;         // Cannot watch descriptors of large numbers.
  bool has_native_handle = true;  // Waits in a library's loop.
};

/// The kinds that this build has.
[[nodiscard]] std::vector<ArmKind> arm_kinds();

}  // namespace fermata::conformance
