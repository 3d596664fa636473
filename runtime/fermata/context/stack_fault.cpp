// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/stack_fault.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

#include "fermata/base/error.hpp"
#include "fermata/base/freed_memory.hpp"
#include "fermata/system/mutex.hpp"
#include "fermata/system/system_calls.hpp"

namespace fermata::detail {

namespace {

thread_local StackFaultGuard* thread_guards = nullptr;

/// The handler cannot run on the stack that is full. One that the thread has already will do.
class AlternateStack final {
 public:
  void install() {
    ::sigaltstack(nullptr, &former_);
    if ((former_.ss_flags & SS_DISABLE) == 0 && former_.ss_size >= kBytes / 2) return;
    void* const memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw StackExhausted("no memory for the alternate signal stack");
    own_.ss_sp = memory;
    own_.ss_size = kBytes;
    ::sigaltstack(&own_, nullptr);
  }

  void remove() noexcept {
    if (own_.ss_sp == nullptr) return;
    ::sigaltstack(&former_, nullptr);
    ::munmap(own_.ss_sp, own_.ss_size);
    own_ = {};
  }

 private:
  /// A signal frame alone can take 11 KiB (AMX registers).
  static constexpr std::size_t kBytes = 64 * 1024;

  stack_t former_{};
  stack_t own_{};
};

thread_local AlternateStack alternate_stack;

/// One line of text made without the heap, for a signal handler.
class Line final {
 public:
  Line& operator<<(std::string_view text) noexcept {
    const std::size_t fitting = std::min(text.size(), text_.size() - size_);
    std::memcpy(text_.data() + size_, text.data(), fitting);
    size_ += fitting;
    return *this;
  }

  Line& number(std::uintptr_t value, int base = 10) noexcept {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }

  void write_to(int descriptor) const noexcept {
    [[maybe_unused]] const auto written = os::kernel.write(descriptor, text_.data(), size_);
  }

 private:
  std::array<char, 768> text_;
  std::size_t size_ = 0;
};

}  // namespace

/// What the guards of all threads share.
struct StackFaultHandler {
  static void on_fault(int signal, siginfo_t* info, void* machine) noexcept {
    const auto* const address = static_cast<const std::byte*>(info->si_addr);
    if (is_near_freed_pattern(address)) report_freed();
    bool overflow = false;
    for (const StackFaultGuard* guard = thread_guards; guard != nullptr; guard = guard->next_) {
      const StackContext* const running = *guard->running_;
      overflow = running != nullptr && overflowed(*running, address);
      if (!overflow) continue;
      report(*running, guard->describe_);
      break;
    }
    pass_on(signal, info, machine);
    if (overflow) end_after_overflow(signal);
  }

  /// Each thread with a guard holds the handlers once.
  static void hold() {
    const std::lock_guard lock(mutex);
    if (holders++ > 0) return;
    struct sigaction ours = {};
    ours.sa_sigaction = &on_fault;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&ours.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction present = {};
      os::kernel.sigaction(kSignals[i], nullptr, &present);
      if (covers[i] != nullptr && present.sa_sigaction == covers[i]) continue;
      formers[i] = present;
      os::kernel.sigaction(kSignals[i], &ours, nullptr);
    }
  }

  /// A handler that someone put over ours stays. It may call ours, which must not call it then, so
  /// hold() leaves it on top.
  static void let_go() noexcept {
    const std::lock_guard lock(mutex);
    if (--holders > 0) return;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction present = {};
      os::kernel.sigaction(kSignals[i], nullptr, &present);
      const bool ours = present.sa_sigaction == &on_fault;
      covers[i] = ours || present.sa_handler == SIG_IGN ? nullptr : present.sa_sigaction;
      if (ours) os::kernel.sigaction(kSignals[i], &formers[i], nullptr);
    }
  }

 private:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS};

  static bool overflowed(const StackContext& context, const std::byte* address) noexcept {
    return context.slab != nullptr && address < context.stack_low &&
           address >= context.stack_low - kGuardBytes;
  }

  static void report_freed() noexcept {
    Line line;
    line << "fermata: memory was used after it was freed: a pointer was read from it, such as one "
            "of a coroutine or a future\n";
    line.write_to(STDERR_FILENO);
  }

  static void report(const StackContext& context, StackFaultGuard::Describe describe) noexcept {
    std::array<char, 512> who{"a context without a coroutine"};
    if (context.owner != nullptr) describe(context.owner, who.data(), who.size());
    // The StackContext and its colour take less than a page.
    const auto usable = static_cast<std::size_t>(context.stack_high - context.stack_low);
    Line line;
    line << "fermata: stack overflow in " << who.data() << ": stack of ";
    line.number((usable + 4095) / 4096 * 4) << " KiB ending at 0x";
    line.number(reinterpret_cast<std::uintptr_t>(context.stack_low), 16)
        << "; raise StackOptions::stack_bytes\n";
    line.write_to(STDERR_FILENO);
  }

  /// Does what the system would have done without our handler.
  static void pass_on(int signal, siginfo_t* info, void* machine) noexcept {
    const struct sigaction& former = formers[signal == kSignals[0] ? 0 : 1];
    const bool has_details = (former.sa_flags & SA_SIGINFO) != 0;
    if (!has_details && (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN)) {
      // A fault comes again when the instruction does; a signal that was sent must be sent again.
      const bool sent = info->si_code <= 0;
      if (sent && former.sa_handler == SIG_IGN) return;
      os::kernel.signal(signal, SIG_DFL);
      if (sent) os::kernel.raise(signal);
      return;
    }
    // The system takes a one-shot handler away before it calls it: the next fault is deadly.
    if ((former.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) os::kernel.signal(signal, SIG_DFL);
    os::kernel.pthread_sigmask(SIG_BLOCK, &former.sa_mask, nullptr);  // Until our handler returns.
    if (has_details) {
      former.sa_sigaction(signal, info, machine);
    } else {
      former.sa_handler(signal);
    }
  }

  /// Makes the next fault deadly, unless the former handler has taken ours away. It has returned
  /// from a stack overflow, which it cannot have mended: the same instruction faults again.
  static void end_after_overflow(int signal) noexcept {
    struct sigaction present = {};
    os::kernel.sigaction(signal, nullptr, &present);
    if (present.sa_sigaction == &on_fault) os::kernel.signal(signal, SIG_DFL);
  }

  static inline os::Mutex mutex;
  static inline unsigned holders = 0;
  static inline std::array<struct sigaction, kSignals.size()> formers{};
  /// What stood over ours when the last holder let go; null when nothing did.
  static inline std::array<void (*)(int, siginfo_t*, void*), kSignals.size()> covers{};
};

StackFaultGuard::StackFaultGuard(StackContext* const* running, Describe describe)
    : running_(running), describe_(describe), next_(thread_guards) {
  if (next_ == nullptr) {
    alternate_stack.install();
    StackFaultHandler::hold();
  } else {
    next_->previous_ = this;
  }
  thread_guards = this;
}

StackFaultGuard::~StackFaultGuard() {
  (previous_ != nullptr ? previous_->next_ : thread_guards) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  if (thread_guards == nullptr) {
    StackFaultHandler::let_go();
    alternate_stack.remove();
  }
}

const StackContext* running_context_around(const std::byte* address) noexcept {
  for (const StackFaultGuard* guard = thread_guards; guard != nullptr; guard = guard->next_) {
    const StackContext* const running = *guard->running_;
    if (running != nullptr && running->stack_low <= address && address < running->stack_high) {
      return running;
    }
  }
  return nullptr;
}

}  // namespace fermata::detail
