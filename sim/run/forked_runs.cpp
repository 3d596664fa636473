// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/run/forked_runs.hpp"

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

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>

#include "fermata/runtime/base/error.hpp"

/// Of the sanitizers, when the program is built with one: called before it ends the process.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace fermata::sim::detail {

/// What the fork leaves behind. Written by it alone.
class ForkedRuns::Page {
 public:
  static constexpr std::size_t kMostDecisions = 100'000;
  static constexpr int kMostFrames = 48;
  static constexpr std::size_t kMostLetters = 1 << 18;  // Of names.

  std::atomic<std::uint64_t> runs = 0;  // That have begun.
  bool finished = false;
  bool too_many = false;
  std::size_t count = 0;
  int frames = 0;
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
  }

  [[nodiscard]] Names noted_names() const {
    Names result;
    for (std::size_t at = 0; at < letters;) {
      std::uint64_t key = 0;
      std::memcpy(&key, names.data() + at, sizeof key);
      const std::string name = names.data() + at + sizeof key;
      at += sizeof key + name.size() + 1;
      result.emplace(key, name);
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
    page_.decisions[page_.count++] = decision;
    if (names_ == nullptr) return;
    note_name(decision.subject);
    if (decision.is_pick) note_name(decision.value);
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
    struct sigaction action {};
    action.sa_handler = &on_signal;
    action.sa_flags = static_cast<int>(SA_ONSTACK | SA_RESETHAND);
    for (const int signum : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      ::sigaction(signum, &action, nullptr);
    }
  }
  // Then the default action, when the instruction is tried again or abort() goes on.
  static void on_signal(int /*signum*/) noexcept { note_stack(); }
  static void note_stack() noexcept {
    if (dying_->frames == 0) dying_->frames = ::backtrace(dying_->stack.data(), Page::kMostFrames);
  }

  static inline Page* dying_ = nullptr;

  Page& page_;
};

namespace {

std::size_t threads_of_this_process() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    count += entry.is_directory();
  }
  return count;
}

/// No core file, and nothing to read: there may be hundreds of these.
void be_silent() {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
}

/// Whether it has ended before a run of it has taken longer than the limit, or twice that at most.
bool ends_within(pid_t process, std::chrono::milliseconds limit,
                 const std::atomic<std::uint64_t>& runs) {
  const int end = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (end < 0) throw InputOutputError("cannot watch a process", errno);
  pollfd watched{end, POLLIN, 0};
  int ready = 0;
  for (std::uint64_t before = ~runs.load(); before != runs.load() && ready <= 0;) {
    before = runs.load();
    ready = ::poll(&watched, 1, static_cast<int>(limit.count()));
    if (ready < 0 && errno == EINTR) before = ~before;
  }
  ::close(end);
  return ready > 0;
}

/// The offset of the innermost frame that is in the program's own file.
std::uint64_t place_of(const std::vector<const void*>& stack) {
  Dl_info own{};
  if (::dladdr(reinterpret_cast<const void*>(&ending_text), &own) == 0) return 0;
  for (const void* frame : stack) {
    Dl_info info{};
    if (::dladdr(frame, &info) == 0 || info.dli_fbase != own.dli_fbase) continue;
    const auto* base = static_cast<const char*>(info.dli_fbase);
    // Not the functions of this file, which are on top of it.
    if (info.dli_sname != nullptr && std::strstr(info.dli_sname, "ForkedRuns") != nullptr) continue;
    return static_cast<std::uint64_t>(static_cast<const char*>(frame) - base);
  }
  return 0;
}

}  // namespace

std::string ending_text(int signal, int code) {
  if (signal == 0) return fmt::format("exited with code {}", code);
  return fmt::format("was killed by signal {} ({})", signal, ::strsignal(signal));
}

std::string Death::signature() const {
  if (kind == Kind::Hang) return "hang: wall limit";
  return "crash: " + ending_text(kind == Kind::Signal ? number : 0, number);
}

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
}

ForkedRuns::~ForkedRuns() { ::munmap(page_, sizeof(Page)); }

ForkedRun ForkedRuns::run(const std::function<void(ForkListener& listener)>& body) {
  page_->finished = page_->too_many = false;
  page_->count = page_->letters = 0;
  page_->frames = 0;
  page_->runs.store(0);
  const pid_t process = ::fork();
  if (process < 0) throw InputOutputError("cannot fork", errno);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_silent();
    Recorder recorder(*page_);
    try {
      body(recorder);
      page_->finished = true;
    } catch (...) {  // Not into what goes on in this process.
    }
    ::_exit(0);
  }
  ForkedRun result;
  const bool hangs = !ends_within(process, limit_, page_->runs);
  if (hangs) ::kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  result.stack.assign(page_->stack.begin(), page_->stack.begin() + page_->frames);
  if (hangs) {
    result.death = {Death::Kind::Hang, 0, 0};
  } else if (WIFSIGNALED(status)) {
    result.death = {Death::Kind::Signal, WTERMSIG(status), place_of(result.stack)};
  } else if (!page_->finished) {
    result.death = {Death::Kind::Exit, WEXITSTATUS(status), place_of(result.stack)};
  }
  result.too_many = page_->too_many;
  if (!result.too_many) {
    result.decisions.assign(page_->decisions.begin(),
                            page_->decisions.begin() + static_cast<std::ptrdiff_t>(page_->count));
  }
  result.names = page_->noted_names();
  return result;
}

}  // namespace fermata::sim::detail
