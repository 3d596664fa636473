// SPDX-License-Identifier: Apache-2.0
#pragma once

// The operating system as code that was not written for Fermata sees it in a simulated process:
// sockets in the simulated network, descriptors, polls, names, clocks and random numbers.
//
// Waiting   A call that waits suspends the coroutine that made it. In a callback, where nothing can
//           be suspended, such a call fails the run.
// Time      Passes while all wait. A program that makes 1,000 calls in a row that find nothing to
//           do, or ask for the time, is taken for a busy loop: 10 us pass.
// The end   When the run is over, or the machine has crashed, no call has an effect: it answers
//           ECANCELED.
// Rules     Linux's, as its manual pages say. What differs is in docs/posix.md.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fermata/posix/environment.hpp"
#include "fermata/posix/heap.hpp"
#include "fermata/posix/kernel.hpp"
#include "fermata/posix/process_state.hpp"
#include "fermata/sim/machine/machine.hpp"
#include "fermata/sim/posix/descriptor_table.hpp"
#include "fermata/sim/posix/foreign_place.hpp"
#include "fermata/sim/posix/foreign_signals.hpp"
#include "fermata/sim/posix/foreign_threads.hpp"
#include "fermata/sim/posix/library_images.hpp"
#include "fermata/sim/posix/machine_share.hpp"
#include "fermata/sim/posix/ready_wait.hpp"

namespace fermata::sim {
class Disk;
}

namespace fermata::sim::detail {

class Epoll;
class Network;
class SimKernelFiles;
class TimerDescriptor;

class SimKernel final : public posix::Kernel, private SignalHost, private ThreadHost {
 public:
  /// `table` has the descriptors of the process. `first` is another process of the machine, which
  /// was there before.
  SimKernel(Machine& machine, Network& network, Disk& disk, DescriptorTable& table,
            const SimKernel* first = nullptr);
  ~SimKernel();

  /// A process begins: with the variables of libraries as they were loaded, and without memory of
  /// theirs. That of the process before it can be read until then.
  void begin_life();
  /// Code that may call it is about to run: from now on it may differ from a new one. Cheap to
  /// repeat; each switch to the program calls it.
  void serve();
  /// Its main coroutine is about to end.
  void main_ends() {
    signals_.main_ends();
    threads_.main_ends();
  }
  /// The program has ended, by itself or by force.
  void program_ended() { threads_.end_life(); }
  /// The process has ended, and its descriptors are closed.
  void end_life();
  /// All processes of the machine have ended.
  void drop_rights() { share_->rights.drop_all(); }
  /// From now on `handler` is told when its threads are switched.
  void on_switch(std::shared_ptr<backend::SwitchHandler> handler) {
    switched_ = std::move(handler);
  }
  /// ForeignThreads::begin_worker().
  [[nodiscard]] bool begin_worker(void* (*start)(void*), void* argument) {
    return threads_.begin_worker(start, argument);
  }
  /// The process is over: its threads end.
  void exit_threads() {
    signals_.main_ends();
    threads_.end_all();
  }
  /// Memory of its foreign libraries; null when there is none of its own.
  [[nodiscard]] posix::Heap* heap() noexcept { return heap_.is_available() ? &heap_ : nullptr; }
  /// Its variables in foreign libraries.
  [[nodiscard]] LibraryImage& image() noexcept { return image_; }

  ssize_t read(int descriptor, std::span<const iovec> target) override;
  ssize_t write(int descriptor, std::span<const iovec> source) override;
  int fstat(int descriptor, struct stat& status) override;
  int close(int descriptor) override;
  int fcntl(int descriptor, int command, std::intptr_t argument) override;
  int duplicate_to(int descriptor, int target, int flags) override;
  int ioctl(int descriptor, unsigned long request, void* argument) override;
  int pipe(std::array<int, 2>& ends, int flags) override;

  int socket(int domain, int type, int protocol) override;
  int socketpair(int domain, int type, int protocol, std::array<int, 2>& ends) override;
  int bind(int descriptor, const sockaddr* address, socklen_t size) override;
  int listen(int descriptor, int backlog) override;
  int getsockname(int descriptor, sockaddr* address, socklen_t* size) override;
  int getpeername(int descriptor, sockaddr* address, socklen_t* size) override;
  int getsockopt(int descriptor, int level, int name, void* value, socklen_t* size) override;
  int setsockopt(int descriptor, int level, int name, const void* value, socklen_t size) override;
  int shutdown(int descriptor, int how) override;
  int connect(int descriptor, const sockaddr* address, socklen_t size) override;
  int accept(int descriptor, sockaddr* address, socklen_t* size, int flags) override;
  ssize_t receive(int descriptor, msghdr& message, int flags) override;
  ssize_t send(int descriptor, const msghdr& message, int flags) override;

  int poll(std::span<pollfd> asked, posix::Limit limit) override;
  int epoll_create(int flags) override;
  int epoll_ctl(int epoll, int operation, int descriptor, const epoll_event* event) override;
  int epoll_wait(int epoll, std::span<epoll_event> room, posix::Limit limit) override;
  int eventfd(unsigned count, int flags) override;
  int timerfd_create(clockid_t clock, int flags) override;
  int timerfd_settime(int descriptor, int flags, const itimerspec& setting,
                      itimerspec* before) override;
  int timerfd_gettime(int descriptor, itimerspec& left) override;

  int addresses_of(const char* host, const char* service, const addrinfo& hints,
                   std::vector<sockaddr_storage>& found) override;
  int name_of(const sockaddr* address, socklen_t size, int flags, std::string& host,
              std::string& service) override;
  [[nodiscard]] std::string host_name() override;
  [[nodiscard]] std::vector<posix::Interface> interfaces() override;

  int clock_gettime(clockid_t clock, timespec& time) override;
  int clock_settime(clockid_t clock, const timespec& time) override;
  int sleep(clockid_t clock, int flags, const timespec& time, timespec* left) override;
  void yield() override;

  [[nodiscard]] posix::Threads* threads() noexcept override;
  [[nodiscard]] posix::Signals* signals() noexcept override;

  void refuse(const char* function, const void* caller) override;
  [[noreturn]] void abort(std::string why) override;
  void terminate(std::string why) override;

  [[nodiscard]] posix::Environment* environment() noexcept override { return &environment_; }

  [[nodiscard]] posix::ProcessState* state() noexcept override { return &state_; }

  [[nodiscard]] posix::Files* files() noexcept override;

  void fill_randomly(std::span<std::byte> target) override;
  std::int32_t next_random() override;
  void seed_random(unsigned seed) override;

 private:
  friend class SimKernelFiles;

  /// A call begins. 0, or the error that it ends with: the run is over.
  [[nodiscard]] int enter(const char* call);
  /// Leaves foreign code that has made many calls since its end, by an exception. Only for calls
  /// that may throw.
  void leave_if_endless() override;
  /// leave_if_endless() for calls that may not throw: the coroutine ends where it is.
  void drop_if_endless();
  /// leave_if_endless() when a wait has been interrupted.
  void leave_if_interrupted(ssize_t result);
  [[noreturn]] void leave() override;
  /// Ends the current coroutine where it is: nothing on its stack is unwound. REQUIRES: it could
  /// suspend here.
  [[noreturn]] void drop_coroutine(DropAs end) override;
  /// The call has found nothing to do, or has asked for the time.
  void idle() override;
  void begin_waiting() noexcept override { idle_calls_ = 0; }
  [[nodiscard]] ForeignSignals& foreign_signals() noexcept override { return signals_; }
  void thread_made(CoroutineBase& coroutine) override;
  [[nodiscard]] MachineShare& machine_share() noexcept override { return *share_; }
  [[nodiscard]] std::size_t process_index() const noexcept override { return index_; }
  /// Whether somebody is going to read where things have happened.
  [[nodiscard]] bool is_read() const noexcept override { return machine_.run_log() != nullptr; }
  /// Where others may run before or after a call, for people.
  [[nodiscard]] SourcePlace place_of_switch(const char* call) const override;
  /// Where the call was made, for people.
  [[nodiscard]] SourcePlace place() const override;
  /// What a wait inside of a call comes to: 0, -ETIMEDOUT, -EINTR or -ECANCELED. `wait` is given
  /// the place of the call.
  template <class Wait>
  [[nodiscard]] int suspended(const char* call, const Wait& wait);
  /// suspended(), but -EDEADLK where nothing can be suspended; nothing fails then.
  template <class Wait>
  [[nodiscard]] int suspended_if_possible(const Wait& wait, bool lets_signals_in = true);
  /// The call waits where nothing can be suspended: the run fails. Returns -EDEADLK.
  int refuse_wait(const char* call) override;
  int wait_for_signal(const char* call, posix::Limit limit) override;
  [[nodiscard]] bool knows_thread(pthread_t thread) override { return threads_.knows(thread); }
  [[nodiscard]] pthread_t thread_numbered(pid_t number) override {
    return threads_.numbered(number);
  }
  void switch_threads(const char* call) override { threads_.switch_point(call); }
  int open_signals(int known, SignalSet wanted, int flags) override;
  /// `restarts`: a handler of SA_RESTART does not end it.
  [[nodiscard]] int wait(const char* call, std::vector<ReadyWait::Item> items, posix::Limit limit,
                         bool restarts);

  /// The time that limits of waits are of, as the machine's clock shows it.
  [[nodiscard]] Instant shown_now() const { return machine_.clock().shown(machine_.now()); }
  /// Waits until `count_ready` has something to count, which it returns.
  template <class CountReady>
  [[nodiscard]] int wait_to_poll(std::vector<ReadyWait::Item> items, posix::Limit limit,
                                 const CountReady& count_ready);

  /// Null, and -EBADF in `code`, when it is not open; the step that runs uses it.
  [[nodiscard]] std::shared_ptr<Description> share(int descriptor, int& code);
  /// Calls `operation` with the description, and returns its result; -EBADF when it is not open.
  template <class Operation>
  auto with(const char* call, int descriptor, const Operation& operation);
  /// Like with(), of a call that may wait, and may throw: who is to end leaves it.
  template <class Operation>
  auto with_waiting(const char* call, int descriptor, const Operation& operation);
  /// Like with(), of a socket; -ENOTSOCK when it is something else.
  template <class Operation>
  auto with_socket(const char* call, int descriptor, const Operation& operation);
  /// The number of the current coroutine, as one that waits for descriptions; 0 in a callback.
  [[nodiscard]] static std::uint64_t reader();
  [[nodiscard]] TimerDescriptor* timer(int descriptor, int& code);
  [[nodiscard]] Epoll* epoll(int descriptor, int& code);

  /// read() and write() of what is open as `descriptor`, without leaving the code that called.
  [[nodiscard]] ssize_t read_from(const std::shared_ptr<Description>& found, int descriptor,
                                  std::span<const iovec> target);
  [[nodiscard]] ssize_t write_to(const std::shared_ptr<Description>& found, int descriptor,
                                 std::span<const iovec> source);

  /// How a transfer goes on when there is nothing to transfer.
  struct Way {
    const char* call;
    int descriptor;
    Readiness wanted;
    bool waits;
    bool whole;  // Until all is transferred.
  };
  /// Calls `attempt` for what is left of `pieces` until something is transferred, or all.
  template <class Attempt>
  [[nodiscard]] ssize_t transfer(const Way& way, std::shared_ptr<Description> description,
                                 posix::Limit limit, std::span<const iovec> pieces,
                                 const Attempt& attempt);

  /// Paths of sockets are those that this process means.
  void look_for_names() noexcept;
  [[nodiscard]] std::shared_ptr<UnixDatagramSocket> make_unix_datagram_socket(std::uint64_t serial);
  /// Opens `description` under a new number, with SOCK_NONBLOCK and SOCK_CLOEXEC of `flags`.
  [[nodiscard]] int open(std::shared_ptr<Description> description, int flags);
  /// Opens two; both or none.
  [[nodiscard]] int open_both(std::shared_ptr<Description> first,
                              std::shared_ptr<Description> second, int flags,
                              std::array<int, 2>& ends);
  void forget_locks(int descriptor);
  [[nodiscard]] int refuse_flags(int flags, int known) const;

  struct KnownPlace {
    const void* caller = nullptr;
    SourcePlace place;
  };

  Machine& machine_;
  Network& network_;
  DescriptorTable& table_;
  std::unique_ptr<SimKernelFiles> files_;
  std::shared_ptr<MachineShare> share_;
  bool serves_ = true;     // Something in it may differ from how a life begins.
  std::size_t index_ = 0;  // Among the processes of the machine.
  std::shared_ptr<backend::SwitchHandler> switched_;
  ForeignSignals signals_;
  ForeignThreads threads_;
  posix::Heap heap_;
  posix::Environment environment_;
  posix::ProcessState state_;
  LibraryImage image_;
  mutable std::array<KnownPlace, 64> known_places_{};  // By address: looking for one takes long.
  mutable bool knows_places_ = false;                  // There are any.
  unsigned idle_calls_ = 0;                            // Since something was waited for.
  std::uint64_t calls_after_end_ = 0;                  // Calls since the run has ended.
  std::uint64_t random_words_ = 0;                     // That were told since its life began.
  std::uint64_t calls_in_vain_ = 0;  // Calls that coroutines make although they are to end.
  std::array<char, 128> random_state_{};
  random_data random_ = {};
  bool random_is_seeded_ = false;  // It is by its first use, as by srandom(1).
};

}  // namespace fermata::sim::detail
