// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/process/forked_runs.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "fermata/base/assert.hpp"
#include "fermata/base/error.hpp"
#include "fermata/sim/guard/guarded_functions.hpp"
#include "fermata/sim/run/process/process_wait.hpp"
#include "fermata/system/system_calls.hpp"

/// A hook of the sanitizers, when the program is built with one: called before it ends the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace fermata::sim::detail {

/// What the fork leaves behind. Written by it alone.
class ForkedRuns::Page {
 public:
  static constexpr std::size_t kMostDecisions = 100'000;
  static constexpr int kMostFrames = 48;
  static constexpr std::size_t kMostLetters = 1 << 21;  // Of names and sentences.

  std::atomic<std::uint64_t> runs = 0;  // That have begun.
  bool finished = false;
  bool exits = false;  // By itself: `stack` begins with who has called exit().
  bool too_many = false;
  std::size_t count = 0;
  std::atomic<int> frames = 0;  // Set once `stack` is complete.
  std::array<void*, kMostFrames> stack{};
  std::array<Decision, kMostDecisions> decisions{};
  /// Each a key and a text that ends with a zero.
  std::size_t letters = 0;
  std::array<char, kMostLetters> names{};

  void note_name(std::uint64_t key, const std::string& name) noexcept {
    const std::size_t size = sizeof key + name.size() + 1;
    if (size > kMostLetters - letters) return;
    std::memcpy(names.data() + letters, &key, sizeof key);
    std::memcpy(names.data() + letters + sizeof key, name.c_str(), name.size() + 1);
    letters += size;
    FERMATA_ASSERT(letters <= kMostLetters);
  }

  [[nodiscard]] KeyNames noted_names() const {
    KeyNames result;
    FERMATA_ASSERT(letters <= kMostLetters);
    for (std::size_t at = 0; at < letters;) {
      std::uint64_t key = 0;
      std::memcpy(&key, names.data() + at, sizeof key);
      const std::string name = names.data() + at + sizeof key;
      at += sizeof key + name.size() + 1;
      result.insert_or_assign(key, name);
    }
    return result;
  }
};

class ForkedRuns::Recorder final : public ForkListener {
 public:
  explicit Recorder(Page& page) noexcept : page_(page) {
    dying_ = &page;
    listen_to_signals();
  }

  void began() override {
    page_.runs.fetch_add(1, std::memory_order_relaxed);
    page_.count = page_.letters = 0;
    page_.too_many = false;
  }
  void decided(const Decision& decision) override {
    page_.too_many = page_.too_many || page_.count == Page::kMostDecisions;
    if (page_.too_many) return;
    FERMATA_ASSERT(page_.count < Page::kMostDecisions);
    page_.decisions[page_.count++] = decision;
    if (names_ == nullptr) return;
    if (!decision.is_pick) return;
    note_name(decision.subject);
    note_name(decision.value);
  }
  void told(std::uint64_t key, const std::string& sentence) override {
    page_.note_name(key, sentence);
  }

 private:
  void note_name(std::uint64_t key) const {
    const auto found = names_->find(key);
    if (found != names_->end()) page_.note_name(key, found->second);
  }

  static void listen_to_signals() noexcept {
    std::array<void*, 1> warm_up;  // The first call loads a library, which a handler must not.
    ::backtrace(warm_up.data(), 1);
    if (&__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(&note_stack);
    listen_to_exits(&on_exit);
    struct sigaction action {};
    action.sa_handler = &on_signal;
    action.sa_flags = SA_ONSTACK;
    for (std::size_t i = 0; i < kDeadly.size(); ++i) {
      os::kernel.sigaction(kDeadly[i], &action, &formers_[i]);
    }
  }
  /// Notes the stack from the caller of exit() on.
  static void on_exit(const void* caller) noexcept {
    if (dying_->finished) return;
    std::array<void*, Page::kMostFrames> stack;
    const auto end = stack.begin() + ::backtrace(stack.data(), Page::kMostFrames);
    const auto begin = std::find(stack.begin(), end, caller);
    std::copy(begin, end, dying_->stack.begin());
    dying_->exits = true;
    dying_->frames.store(static_cast<int>(end - begin));
  }
  // Then what there was before, a sanitizer's handler or the default action, when the instruction
  // is tried again or abort() goes on: the fork ends as any other process does.
  static void on_signal(int /*signum*/) noexcept {
    note_stack();
    for (std::size_t i = 0; i < kDeadly.size(); ++i) {
      os::kernel.sigaction(kDeadly[i], &formers_[i], nullptr);
    }
  }
  static void note_stack() noexcept {
    if (dying_->frames.load() != 0) return;
    dying_->frames.store(::backtrace(dying_->stack.data(), Page::kMostFrames));
  }

  static constexpr std::array kDeadly = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  static inline Page* dying_ = nullptr;
  static inline std::array<struct sigaction, kDeadly.size()> formers_{};

  Page& page_;
};

namespace {

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    count += entry.is_directory();
  }
  FERMATA_ASSERT(count > 0);
  return count;
}

/// No core file, and nothing to read but what goes to `errors`: there may be hundreds of these.
void be_silent(int errors) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDWR);
  os::kernel.dup2(nothing, STDOUT_FILENO);
  os::kernel.dup2(errors, STDERR_FILENO);
}

/// Empties a file in memory that has grown large: a run that writes without end does not fill the
/// memory.
void keep_short(int file) {
  constexpr off_t kMost = 1 << 20;
  if (::lseek(file, 0, SEEK_CUR) < kMost) return;
  if (::ftruncate(file, 0) == 0) ::lseek(file, 0, SEEK_SET);
}

/// Has a process that hangs note its stack, and ends it.
void end_hanging(pid_t process, const std::atomic<int>& frames) {
  FERMATA_ASSERT(process > 0);
  constexpr int kTries = 200;
  os::kernel.kill(process, SIGABRT);  // Its handler returns, and the process goes on.
  for (int i = 0; i < kTries && frames.load() == 0; ++i) {
    os::kernel.poll(nullptr, 0, 1);
  }
  os::kernel.kill(process, SIGKILL);
}

/// The offset of `frame` in the program's own file; nothing when it is in a library.
std::optional<std::uint64_t> own_offset(const void* frame) {
  Dl_info own{};
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&ending_text), &own) == 0) return std::nullopt;
  if (::dladdr(frame, &info) == 0 || info.dli_fbase != own.dli_fbase) return std::nullopt;
  return static_cast<std::uint64_t>(static_cast<const char*>(frame) -
                                    static_cast<const char*>(info.dli_fbase));
}

/// The offset of the innermost frame in the program's own file. The frames of a signal's handler,
/// above one of the system's, are not of the run.
std::uint64_t place_of(const std::vector<const void*>& stack, bool in_handler) {
  const auto is_own = [](const void* frame) { return own_offset(frame).has_value(); };
  auto frame = stack.begin();
  if (in_handler) frame = std::find_if_not(frame, stack.end(), is_own);
  frame = std::find_if(frame, stack.end(), is_own);
  return frame == stack.end() ? 0 : own_offset(*frame).value_or(0);
}

}  // namespace

ForkedRuns::ForkedRuns(std::chrono::milliseconds limit) : limit_(limit) {
  if (const std::size_t threads = threads_of_this_process(); threads > 1) {
    throw Error(
        fmt::format("the test process has {} threads; one that crashes is made small only "
                    "when it has one",
                    threads));
  }
  void* memory = ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw InputOutputError("cannot map shared memory", errno);
  page_ = static_cast<Page*>(memory);
  errors_ = ::memfd_create("standard error of a run", MFD_CLOEXEC);
  if (errors_ >= 0) return;
  ::munmap(memory, sizeof(Page));
  throw InputOutputError("cannot make a file in memory", errno);
}

ForkedRuns::~ForkedRuns() {
  os::kernel.close(errors_);
  ::munmap(page_, sizeof(Page));
}

std::string ForkedRuns::end_of_errors() const {
  constexpr off_t kMost = 4'096;
  const off_t end = ::lseek(errors_, 0, SEEK_END);
  std::string text(static_cast<std::size_t>(std::min(std::max<off_t>(end, 0), kMost)), '\0');
  const ssize_t got =
      ::pread(errors_, text.data(), text.size(), end - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

ForkedRun ForkedRuns::run(const std::function<void(ForkListener& listener)>& body) {
  FERMATA_ASSERT(body != nullptr);
  FERMATA_ASSERT(limit_.count() > 0);
  page_->finished = page_->exits = page_->too_many = false;
  page_->count = page_->letters = 0;
  page_->frames.store(0);
  page_->runs.store(0);
  if (::ftruncate(errors_, 0) != 0 || ::lseek(errors_, 0, SEEK_SET) != 0) {
    throw InputOutputError("cannot empty a file in memory", errno);
  }
  const pid_t process = ::fork();
  if (process < 0) throw InputOutputError("cannot fork", errno);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_silent(errors_);
    Recorder recorder(*page_);
    try {
      body(recorder);
      page_->finished = true;
    } catch (...) {  // Not into what goes on in this process.
    }
    ::_exit(0);
  }
  ForkedRun result;
  RunClock clock;
  const bool hangs = !ends_before(process, [&] {
    keep_short(errors_);
    return clock.on(page_->runs.load()) >= limit_;
  });
  if (hangs) end_hanging(process, page_->frames);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  FERMATA_ASSERT(page_->frames <= Page::kMostFrames);
  Crash& crash = result.crash;
  crash.stack.assign(page_->stack.begin(), page_->stack.begin() + page_->frames);
  const std::uint64_t place = place_of(crash.stack, !page_->exits);
  if (hangs) {
    crash.end.kind = ProcessEnd::Kind::Hang;
  } else if (WIFSIGNALED(status)) {
    crash.end = {ProcessEnd::Kind::Signal, WTERMSIG(status), place};
  } else if (!page_->finished) {
    crash.end = {ProcessEnd::Kind::Exit, WEXITSTATUS(status), place};
  }
  crash.errors = end_of_errors();
  result.too_many = page_->too_many;
  if (!result.too_many) {
    result.decisions.assign(page_->decisions.begin(),
                            page_->decisions.begin() + static_cast<std::ptrdiff_t>(page_->count));
  }
  result.names = page_->noted_names();
  return result;
}

}  // namespace fermata::sim::detail
