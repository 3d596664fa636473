// SPDX-License-Identifier: Apache-2.0
#pragma once

// A kernel for tests of what waits for descriptors: it is in os::kernel for as long as it lives.
//
// Time       Virtual. It passes in waits only: until the next thing happens, or the wait is over.
// Answers    Where a kernel may answer in several ways it draws: which of those that are ready come
//            in one batch, whether a call is interrupted, whether something seems ready that is
//            not, how much of a read or a write is done at once.
// Numbers    The lowest free one comes next, so that a closed number soon means another file.
// Epoll      As epoll(7): a registration is of a number and its file, lasts as long as the file,
//            and cannot be deleted once the number means another one.
// Patience   A wait that nothing can end, and waits without end, fail with EDEADLK.
//
// One at a time, on one thread.

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fermata/base/time.hpp"
#include "fermata/system/system_calls.hpp"
#include "tests/support/fake_answers.hpp"

namespace fermata::test {

enum class FakeKind : std::uint8_t { Socket, Listener, Counter, Epoll };

/// What numbers stand for.
struct FakeFile {
  using Key = std::pair<std::uint64_t, int>;  // A file's identity, and a number.
  struct Interest {
    std::shared_ptr<FakeFile> file;
    std::uint32_t events;
    std::uint64_t data;
  };

  std::uint64_t identity;
  FakeKind kind;
  std::uint32_t ready = 0;            // Of a socket, set from outside: EPOLLIN ...
  std::uint64_t count = 0;            // Of a counter.
  std::map<Key, Interest> interests;  // Of an epoll.

  // Of a socket with a peer: what the peer has sent, and what came to it.
  bool connected = false;
  bool ended = false;  // The peer has sent its last.
  std::string incoming;
  std::string outgoing;
  std::size_t room = 0;  // What can be written before the peer has read some.
  // Of a listener.
  std::vector<std::shared_ptr<FakeFile>> pending;
};

struct FakeKernelOptions {
  /// Whether it has epoll_pwait2, as Linux has from 5.11 on.
  bool nanoseconds = true;
  /// What may seem ready for what it is not.
  std::uint32_t spurious = EPOLLIN;
  /// Waits before it loses patience.
  std::size_t waits_max = 100'000;
};

class FakeKernel {
 public:
  using File = std::shared_ptr<FakeFile>;
  static constexpr int kFirstNumber = 3;

  explicit FakeKernel(std::vector<std::uint8_t> answers, FakeKernelOptions options = {});
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;
  ~FakeKernel();

  [[nodiscard]] Instant now() const noexcept { return now_; }
  /// Happens in the wait that lasts until then.
  void at(Instant when, std::function<void()> what) { happenings_.emplace(when, std::move(what)); }

  /// A socket that is ready for nothing.
  int open();
  int duplicate(int number);
  void close(int number);
  void set_ready(int number, std::uint32_t events) { file(number)->ready = events; }
  /// Null when nothing has the number.
  [[nodiscard]] File file(int number) const;
  /// What a file is ready for now.
  [[nodiscard]] std::uint32_t ready_of(const FakeFile& file) const;
  /// A connection to a listener. The caller is its peer.
  File connect_to(int listener, std::size_t room);

  /// What the kernel was asked to look for in the last wait, also inside an epoll that it was asked
  /// to look at: number -> events.
  [[nodiscard]] const std::map<int, std::uint32_t>& asked() const noexcept { return asked_; }
  /// Called for each number that is found, before the answer: what other threads do meanwhile.
  std::function<void(int number)> on_found;
  /// Waits so far.
  [[nodiscard]] std::size_t waits() const noexcept { return waits_; }
  [[nodiscard]] bool lost_patience() const noexcept { return lost_patience_; }
  [[nodiscard]] FakeAnswers& answers() noexcept { return answers_; }
  [[nodiscard]] const FakeAnswers& answers() const noexcept { return answers_; }
  [[nodiscard]] std::size_t open_numbers() const noexcept { return files_.size(); }

 private:
  friend struct FakeCalls;

  struct Asked {
    int number;
    File file;  // Null when nothing has the number.
    std::uint32_t events;
    std::uint64_t data = 0;                      // As epoll has it.
    std::uint32_t always = EPOLLERR | EPOLLHUP;  // Found also when it was not asked for.
    std::uint32_t found = 0;
  };
  using Asking = std::function<std::vector<Asked>()>;

  File make(FakeKind kind);
  int give(File file);
  void forget(const File& file);
  [[nodiscard]] std::vector<Asked> interests_of(const FakeFile& epoll) const;
  void note(const Asked& asked);

  /// What is found, as far as it comes in this batch; no value for an error, which is in errno.
  std::optional<std::vector<Asked>> wait_for(const Asking& asking, Instant wake_by,
                                             std::size_t room);
  [[nodiscard]] std::vector<Asked> found_of(std::vector<Asked> asked) const;
  std::vector<Asked> batch_of(std::vector<Asked> found, std::size_t room);
  std::vector<Asked> seemingly_ready(std::vector<Asked> asked);
  [[nodiscard]] Instant next_happening() const;
  void pass_until(Instant when);
  bool interrupts(const Asking& asking, Instant wake_by);
  bool has_patience(Instant next);

  FakeAnswers answers_;
  FakeKernelOptions options_;
  std::map<int, File> files_;
  std::multimap<Instant, std::function<void()>> happenings_;
  std::map<int, std::uint32_t> asked_;
  Instant now_{1'000'000'000};
  Instant short_until_;  // Of descriptors and memory.
  std::uint64_t identities_ = 0;
  std::size_t waits_ = 0;
  bool lost_patience_ = false;
  os::ReplacedKernel replaced_;
};

}  // namespace fermata::test
