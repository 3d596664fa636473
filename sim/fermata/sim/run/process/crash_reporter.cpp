// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/crash_reporter.hpp"

#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "fermata/system/system_calls.hpp"

namespace fermata::sim::detail {
namespace {

CrashReporter* speaker = nullptr;

// Only what is safe inside a signal handler.
void say(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = os::kernel.write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(std::uint64_t number) noexcept {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  say(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

}  // namespace

CrashReporter::CrashReporter(std::string command, std::uint64_t first_run)
    : command_(std::move(command)), first_run_(first_run) {
  FERMATA_ASSERT(speaker == nullptr);
  speaker = this;
  struct sigaction action {};
  action.sa_handler = &CrashReporter::on_signal;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < kFatal.size(); ++i) {
    os::kernel.sigaction(kFatal[i], &action, &previous_[i]);
  }
}

CrashReporter::~CrashReporter() { restore(); }

// With the previous handlers back, the instruction that faulted is tried again under them; abort()
// goes on as if nobody had listened.
void CrashReporter::on_signal(int /*signum*/) noexcept {
  if (speaker == nullptr) return;
  CrashReporter* const words = std::exchange(speaker, nullptr);
  words->speak();
  words->restore();
}

void CrashReporter::speak() const noexcept {
  const std::uint64_t run = run_.load(std::memory_order_relaxed);
  say("killed in run ");
  say(run + 1);
  say("\nreproduce: FERMATA_RUNS=");
  say(run - first_run_ + 1);
  say(" ");
  say(command_);
  say("\n");
}

void CrashReporter::restore() noexcept {
  speaker = nullptr;
  for (std::size_t i = 0; i < kFatal.size(); ++i) {
    os::kernel.sigaction(kFatal[i], &previous_[i], nullptr);
  }
}

}  // namespace fermata::sim::detail
