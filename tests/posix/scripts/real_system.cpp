// SPDX-License-Identifier: Apache-2.0
#include "tests/posix/scripts/real_system.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace fermata::test {

namespace {

constexpr std::size_t kMostOfScript = 16 * 1024;

/// Memory that a child shares with its parent.
class SharedText {
 public:
  explicit SharedText(std::size_t size)
      : size_(size),
        memory_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  SharedText(const SharedText&) = delete;
  SharedText& operator=(const SharedText&) = delete;
  ~SharedText() { ::munmap(memory_, size_); }

  void append(std::string_view text) {
    if (used_ + text.size() > size_) throw std::length_error("the answers are too long");
    std::memcpy(static_cast<char*>(memory_) + used_, text.data(), text.size());
    used_ += text.size();
  }
  /// Up to `end`, from where the last one ended.
  std::string take(char end) {
    const std::string_view left(static_cast<const char*>(memory_) + used_, size_ - used_);
    const std::string_view taken = left.substr(0, left.find(end));
    used_ += taken.size() + 1;
    return std::string(taken);
  }

 private:
  std::size_t size_;
  void* memory_;
  std::size_t used_ = 0;
};

[[noreturn]] void be_child(std::span<const Script> scripts, const std::function<void()>& prepare,
                           bool patient, SharedText& answers) {
  constexpr unsigned kMostSeconds = 300;
  constexpr rlimit kDescriptors = {1024, 1024};
  ::alarm(kMostSeconds);
  ::signal(SIGPIPE, SIG_IGN);
  ::setrlimit(RLIMIT_NOFILE, &kDescriptors);
  const auto settle = [patient] {
    if (patient) ::usleep(2000);
  };
  for (const Script& each : scripts) {
    ::close_range(STDERR_FILENO + 1, ~0u, 0);
    prepare();
    for (const Answer& answer : perform(each, settle)) {
      answers.append(answer.call + '\n' + answer.result + '\n');
    }
  }
  ::_exit(0);
}

}  // namespace

std::vector<std::vector<Answer>> perform_on_linux(std::span<const Script> scripts,
                                                  const std::function<void()>& prepare,
                                                  bool patient) {
  SharedText answers(kMostOfScript * scripts.size());
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) be_child(scripts, prepare, patient, answers);
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error(fmt::format("the child ended with status {:#x}", status));
  }
  std::vector<std::vector<Answer>> told(scripts.size());
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    for (std::size_t step = 0; step < scripts[i].size(); ++step) {
      std::string call = answers.take('\n');
      told[i].push_back({std::move(call), answers.take('\n')});
    }
  }
  return told;
}

}  // namespace fermata::test
