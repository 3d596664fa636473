// SPDX-License-Identifier: Apache-2.0
#include "fermata/context/stack_fault.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "fermata/base/freed_memory.hpp"
#include "tests/unit/context/stage.hpp"

namespace fermata {
namespace {

using detail::StackContext;
using detail::StackFaultGuard;
using testing::kSanitized;
using testing::leave;
using testing::Stage;

// The stage's own owner is not a text, so descriptions are constants.
void call_it_reader(void*, char* out, std::size_t size) noexcept {
  std::snprintf(out, size, "coroutine 'reader' spawned at net.cpp:7");
}
void call_it_writer(void*, char* out, std::size_t size) noexcept {
  std::snprintf(out, size, "coroutine 'writer'");
}

constexpr int kDepthNeverReached = 1'000'000'000;

[[gnu::noinline]] int recurse_for_ever(int depth) {
  volatile char frame[512];
  frame[0] = static_cast<char>(depth);
  if (depth == kDepthNeverReached) return 0;
  return recurse_for_ever(depth + 1) + frame[0];
}

void overflow(StackOptions options) {
  Stage stage(options);
  const StackFaultGuard guard(&stage.running, &call_it_reader);
  stage.start([] { recurse_for_ever(0); });
}

constexpr const char* kReport =
    "fermata: stack overflow in coroutine 'reader' spawned at net.cpp:7: stack of 64 KiB ending at "
    "0x[0-9a-f]+; raise StackOptions::stack_bytes\n";

class StackFaultOf : public ::testing::TestWithParam<Guards> {};

// A sanitizer's own handler comes after ours and chooses how to die.
TEST_P(StackFaultOf, NamesTheCoroutineAndDiesOfTheSignal) {
  const StackOptions options{.stack_bytes = 64 * 1024, .guards = GetParam()};
  if (kSanitized) {
    EXPECT_DEATH(overflow(options), kReport);
  } else {
    EXPECT_EXIT(overflow(options), ::testing::KilledBySignal(SIGSEGV), kReport);
  }
}

INSTANTIATE_TEST_SUITE_P(Guards, StackFaultOf,
                         ::testing::Values(Guards::Automatic, Guards::Mprotect),
                         [](const auto& instance) {
                           return instance.param == Guards::Mprotect ? "Mprotect" : "Automatic";
                         });

TEST(StackFault, IsReportedOnEveryThread) {
  EXPECT_DEATH(std::thread([] { overflow({.stack_bytes = 64 * 1024}); }).join(), kReport);
}

TEST(StackFault, SaysWhenNoCoroutineOwnsTheStack) {
  const auto overflow_unowned = [] {
    Stage stage;
    const StackFaultGuard guard(&stage.running, &call_it_reader);
    stage.start([&] {
      stage.running->owner = nullptr;
      recurse_for_ever(0);
    });
  };
  EXPECT_DEATH(overflow_unowned(), "fermata: stack overflow in a context without a coroutine: ");
}

TEST(StackFault, AsksTheRuntimeWhoseContextRuns) {
  const auto overflow_inner = [] {
    Stage outer;
    const StackFaultGuard outer_guard(&outer.running, &call_it_reader);
    outer.start([] {
      Stage inner;
      const StackFaultGuard inner_guard(&inner.running, &call_it_writer);
      inner.start([] { recurse_for_ever(0); });
    });
  };
  const auto overflow_outer = [] {
    Stage outer;
    const StackFaultGuard outer_guard(&outer.running, &call_it_reader);
    outer.start([] {
      Stage inner;
      const StackFaultGuard inner_guard(&inner.running, &call_it_writer);
      recurse_for_ever(0);
    });
  };
  EXPECT_DEATH(overflow_inner(), "stack overflow in coroutine 'writer'");
  EXPECT_DEATH(overflow_outer(), "stack overflow in coroutine 'reader'");
}

TEST(StackFault, GuardsMayEndInAnyOrder) {
  const auto overflow_after = [](bool end_first) {
    Stage stage;
    Stage idle;
    auto first = std::make_unique<StackFaultGuard>(&stage.running, &call_it_reader);
    auto second = std::make_unique<StackFaultGuard>(&idle.running, &call_it_writer);
    auto third = std::make_unique<StackFaultGuard>(&stage.running, &call_it_reader);
    (end_first ? first : third).reset();
    second.reset();
    stage.start([] { recurse_for_ever(0); });
  };
  EXPECT_DEATH(overflow_after(true), "stack overflow in coroutine 'reader'");
  EXPECT_DEATH(overflow_after(false), "stack overflow in coroutine 'reader'");
}

void say(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void handle_plainly(int) {
  say("plain handler\n");
  leave(42);
}

void handle_with_details(int, siginfo_t* info, void*) {
  std::fprintf(stderr, "detailed handler, %s\n", info->si_addr != nullptr ? "address" : "null");
  leave(43);
}

void set_handler(int signal, void (*plain)(int), unsigned flags = 0) {
  struct sigaction action = {};
  action.sa_handler = plain;
  action.sa_flags = static_cast<int>(flags);
  ::sigaction(signal, &action, nullptr);
}

void set_detailed_handler(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = &handle_with_details;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(signal, &action, nullptr);
}

TEST(StackFault, GoesOnToTheHandlerFoundBefore) {
  const auto overflow_with = [](bool detailed) {
    if (detailed) {
      set_detailed_handler(SIGSEGV);
    } else {
      set_handler(SIGSEGV, &handle_plainly);
    }
    overflow({.stack_bytes = 64 * 1024});
  };
  EXPECT_EXIT(overflow_with(false), ::testing::ExitedWithCode(42), "stack overflow(.|\n)*plain");
  EXPECT_EXIT(overflow_with(true), ::testing::ExitedWithCode(43),
              "stack overflow(.|\n)*detailed handler, address");
}

TEST(StackFault, OtherFaultsAreNoneOfOurs) {
  const auto fault_elsewhere = [](int signal) {
    set_detailed_handler(signal);
    Stage stage;
    const StackFaultGuard guard(&stage.running, &call_it_reader);
    stage.start([&] {
      void* const page = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (signal == SIGSEGV) {
        *static_cast<volatile char*>(page) = 1;
      } else {
        ::raise(signal);
      }
    });
  };
  EXPECT_EXIT(fault_elsewhere(SIGSEGV), ::testing::ExitedWithCode(43), "^detailed handler");
  EXPECT_EXIT(fault_elsewhere(SIGBUS), ::testing::ExitedWithCode(43), "^detailed handler");
}

TEST(StackFault, SignalsSentKeepTheirDisposition) {
  const auto send_with = [](void (*disposition)(int)) {
    set_handler(SIGSEGV, disposition);
    Stage stage;
    const StackFaultGuard guard(&stage.running, &call_it_reader);
    ::raise(SIGSEGV);
    std::fprintf(stderr, "ignored\n");
    leave(0);
  };
  EXPECT_EXIT(send_with(SIG_DFL), ::testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(send_with(SIG_IGN), ::testing::ExitedWithCode(0), "ignored");
}

/// Not a null pointer, which UndefinedBehaviorSanitizer would see before the fault.
void write_to_nowhere() {
  volatile std::uintptr_t nowhere = 64;
  *reinterpret_cast<volatile int*>(nowhere) = 1;
}

/// On a coroutine's stack, with a guard that finds the handlers of the present.
void run_guarded(void (*body)()) {
  Stage stage({.stack_bytes = 64 * 1024});
  const StackFaultGuard guard(&stage.running, &call_it_reader);
  stage.start([body] { body(); });
}

void overflow_guarded() { recurse_for_ever(0); }

TEST(StackFault, NamesAPointerThatWasReadFromFreedMemory) {
  const auto die = [] {
    run_guarded([] {
      volatile std::uintptr_t member = detail::kFreedPattern + 24;
      *reinterpret_cast<volatile int*>(member) = 1;
    });
  };
  EXPECT_DEATH(die(), "^fermata: memory was used after it was freed");
}

/// Handlers that return: the instruction faults again, and must not do so forever.
TEST(StackFault, IsDeadlyAfterAOneShotHandler) {
  const auto die = [](void (*body)()) {
    set_handler(
        SIGSEGV, [](int) { say("one shot\n"); }, SA_RESETHAND);
    run_guarded(body);
  };
  EXPECT_EXIT(die(&write_to_nowhere), ::testing::KilledBySignal(SIGSEGV), "^one shot\n$");
  EXPECT_EXIT(die(&overflow_guarded), ::testing::KilledBySignal(SIGSEGV),
              "^fermata: stack overflow[^\n]*\none shot\n$");
}

TEST(StackFault, IsDeadlyAfterAOneShotHandlerWithDetails) {
  const auto die = [](void (*body)()) {
    struct sigaction action = {};
    action.sa_sigaction = [](int, siginfo_t*, void*) { say("one shot\n"); };
    action.sa_flags = static_cast<int>(SA_SIGINFO | SA_RESETHAND);
    ::sigaction(SIGSEGV, &action, nullptr);
    run_guarded(body);
  };
  EXPECT_EXIT(die(&write_to_nowhere), ::testing::KilledBySignal(SIGSEGV), "^one shot\n$");
}

TEST(StackFault, IsDeadlyAfterAHandlerThatRestoresTheDefault) {
  const auto die = [](void (*body)()) {
    set_handler(SIGSEGV, [](int signal) {
      say("restores\n");
      ::signal(signal, SIG_DFL);
    });
    run_guarded(body);
  };
  EXPECT_EXIT(die(&write_to_nowhere), ::testing::KilledBySignal(SIGSEGV), "^restores\n$");
  EXPECT_EXIT(die(&overflow_guarded), ::testing::KilledBySignal(SIGSEGV), "\nrestores\n$");
}

TEST(StackFault, IsDeadlyWhenTheSignalWasIgnored) {
  const auto die = [](void (*body)()) {
    set_handler(SIGSEGV, SIG_IGN);
    run_guarded(body);
  };
  EXPECT_EXIT(die(&write_to_nowhere), ::testing::KilledBySignal(SIGSEGV), "^$");
  EXPECT_EXIT(die(&overflow_guarded), ::testing::KilledBySignal(SIGSEGV), "stack overflow");
}

/// Without us such a handler would be called forever; an overflow cannot be mended by it.
TEST(StackFault, OverflowIsDeadlyAfterAHandlerThatDoesNothing) {
  const auto die = [] {
    set_handler(SIGSEGV, [](int) { say("nothing\n"); });
    run_guarded(&overflow_guarded);
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGSEGV),
              "^fermata: stack overflow[^\n]*\nnothing\n$");
}

/// Crash reporters chain like this: they call the handler that they found.
TEST(StackFault, AHandlerOverOursMayCallOursAfterALaterGuard) {
  static struct sigaction found = {};
  const auto die = [] {
    set_handler(SIGSEGV, SIG_DFL);
    StackContext* running = nullptr;
    {
      const StackFaultGuard guard(&running, &call_it_writer);
      ::sigaction(SIGSEGV, nullptr, &found);
      struct sigaction action = {};
      action.sa_sigaction = [](int signal, siginfo_t* info, void* machine) {
        say("reporter\n");
        found.sa_sigaction(signal, info, machine);
      };
      action.sa_flags = static_cast<int>(SA_SIGINFO | SA_ONSTACK);
      ::sigaction(SIGSEGV, &action, nullptr);
    }
    run_guarded(&overflow_guarded);
  };
  EXPECT_EXIT(die(), ::testing::KilledBySignal(SIGSEGV),
              "^reporter\nfermata: stack overflow[^\n]*'reader'[^\n]*\n$");
}

TEST(StackFault, SignalsOfTheFormerHandlersMaskAreBlocked) {
  const auto die = [] {
    struct sigaction action = {};
    action.sa_handler = [](int) {
      sigset_t blocked;
      ::pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
      leave(::sigismember(&blocked, SIGUSR1) == 1 ? 44 : 1);
    };
    ::sigaddset(&action.sa_mask, SIGUSR1);
    ::sigaction(SIGSEGV, &action, nullptr);
    run_guarded(&write_to_nowhere);
  };
  EXPECT_EXIT(die(), ::testing::ExitedWithCode(44), "");
}

struct sigaction handler_of(int signal) {
  struct sigaction action = {};
  ::sigaction(signal, nullptr, &action);
  return action;
}

stack_t alternate_stack() {
  stack_t stack = {};
  ::sigaltstack(nullptr, &stack);
  return stack;
}

TEST(StackFault, LastGuardRestoresWhatWasThere) {
  const auto segv = handler_of(SIGSEGV);
  const auto bus = handler_of(SIGBUS);
  const auto stack = alternate_stack();
  StackContext* running = nullptr;
  {
    const StackFaultGuard guard(&running, &call_it_reader);
    EXPECT_NE(handler_of(SIGSEGV).sa_sigaction, segv.sa_sigaction);
    EXPECT_NE(handler_of(SIGBUS).sa_sigaction, bus.sa_sigaction);
    EXPECT_EQ(alternate_stack().ss_flags & SS_DISABLE, 0);
    { const StackFaultGuard nested(&running, &call_it_writer); }
    EXPECT_NE(handler_of(SIGSEGV).sa_sigaction, segv.sa_sigaction);
  }
  EXPECT_EQ(handler_of(SIGSEGV).sa_sigaction, segv.sa_sigaction);
  EXPECT_EQ(handler_of(SIGBUS).sa_sigaction, bus.sa_sigaction);
  EXPECT_EQ(alternate_stack().ss_sp, stack.ss_sp);
  EXPECT_EQ(alternate_stack().ss_flags, stack.ss_flags);
}

TEST(StackFault, LaterHandlersStay) {
  const auto former = handler_of(SIGSEGV);
  StackContext* running = nullptr;
  {
    const StackFaultGuard guard(&running, &call_it_reader);
    set_handler(SIGSEGV, &handle_plainly);
  }
  EXPECT_EQ(handler_of(SIGSEGV).sa_handler, &handle_plainly);
  ::sigaction(SIGSEGV, &former, nullptr);
}

}  // namespace
}  // namespace fermata
