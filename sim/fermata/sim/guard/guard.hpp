// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether simulated code asks the real world for anything: the time, random numbers, a thread, a
// sleep. The functions that give such things are defined anew in the program's own link, where
// calls from the C++ library come by as well; while a world runs on this thread, whoever calls one
// is reported. Outside of a world they cost a load and a test.
//
// What is seen   calls through the dynamic linker: from the program and from every library. Not
//                seen: system calls made by hand, a reading of the time stamp counter, and
//                std::random_device in a program that has the C++ library linked in.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fermata/posix/kernel.hpp"

namespace fermata::sim {

/// While it lives the code of this thread may do as it likes, and gets the C library's functions:
/// for what has no influence on the run, such as measuring it. Must not be held over a suspension:
/// whoever runs meanwhile could as well.
class AllowNondeterminism {
 public:
  AllowNondeterminism() noexcept;
  AllowNondeterminism(const AllowNondeterminism&) = delete;
  AllowNondeterminism& operator=(const AllowNondeterminism&) = delete;
  ~AllowNondeterminism();

 private:
  posix::Serving unserved_{nullptr, nullptr};
};

namespace detail {

/// What the guard does with a call of the real world.
enum class GuardMode : std::uint8_t {
  Fail,  // the run fails as nondeterminism; threads are refused, sleeps are skipped
  Warn,  // a line on the standard error stream, once for each function and coroutine
  Off,
};

struct GuardOptions {
  GuardMode mode = GuardMode::Fail;
  /// Functions by name that simulated code may call.
  std::vector<std::string> allowed;

  /// "clock_gettime,time". Throws UsageError, which names the guarded functions, for another one.
  [[nodiscard]] static std::vector<std::string> parse_allowed(std::string_view text);
};

/// From now on, for all worlds of the process.
void set_guard(GuardOptions options);

/// A run whose code is guarded.
class GuardedRun {
 public:
  /// The run is over: nothing that is still called counts.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  /// Label of the coroutine whose code runs; empty when none does.
  [[nodiscard]] virtual std::string current_coroutine() const = 0;
  /// Code of `coroutine` has called `function`, on the stack `called_in`: the run fails.
  virtual void fail_guarded(const char* function, std::string coroutine,
                            const std::string& called_in) = 0;

 protected:
  ~GuardedRun() = default;
};

/// While it lives the code of this thread is simulated, in `run`.
class Guarded {
 public:
  explicit Guarded(GuardedRun& run) noexcept;
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded();

 private:
  GuardedRun& run_;
  GuardedRun* outer_;
};

}  // namespace detail
}  // namespace fermata::sim
