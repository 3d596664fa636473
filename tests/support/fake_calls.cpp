// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_calls.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <limits>

#include "fermata/base/assert.hpp"

namespace fermata::test {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

FakeKernel* current = nullptr;

int fail(int code) noexcept {
  errno = code;
  return -1;
}

FakeFile* file_of(int number) { return current->file(number).get(); }

Instant after(std::int64_t nanoseconds) { return current->now() + Duration(nanoseconds); }

Instant deadline_of(const timespec* limit) {
  return limit == nullptr ? Instant::never() : after(limit->tv_sec * kSecond + limit->tv_nsec);
}

Instant deadline_of(int milliseconds) {
  return milliseconds < 0 ? Instant::never() : after(milliseconds * kMillisecond);
}

/// How much of `size` is done at once.
std::size_t part_of(std::size_t size) {
  return size == 0 ? 0 : size - current->answers().below(size);
}

/// An answer with nothing done, now and then.
bool refuses() {
  FakeAnswers& answers = current->answers();
  if (!answers.once_in(8)) return false;
  errno = answers.below(2) == 0 ? EAGAIN : EINTR;
  return true;
}

ssize_t receive(int number, void* buffer, std::size_t size, int flags) {
  FakeFile* const file = file_of(number);
  if (file == nullptr) return fail(EBADF);
  if (refuses()) return -1;
  if ((file->ready & EPOLLIN) != 0) {  // One byte, always.
    FERMATA_ASSERT(size > 0);
    std::memset(buffer, 'x', 1);
    return 1;
  }
  if (file->incoming.empty()) return file->ended ? 0 : fail(EAGAIN);
  const std::size_t got = part_of(std::min(size, file->incoming.size()));
  std::memcpy(buffer, file->incoming.data(), got);
  if ((flags & MSG_PEEK) == 0) file->incoming.erase(0, got);
  return static_cast<ssize_t>(got);
}

ssize_t transmit(int number, std::string_view data) {
  FakeFile* const file = file_of(number);
  if (file == nullptr) return fail(EBADF);
  if (refuses()) return -1;
  if (file->room == 0) return fail(EAGAIN);
  const std::size_t sent = part_of(std::min(data.size(), file->room));
  file->outgoing.append(data.substr(0, sent));
  file->room -= sent;
  return static_cast<ssize_t>(sent);
}

std::string gathered(const msghdr& message) {
  std::string all;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
    all.append(static_cast<const char*>(message.msg_iov[i].iov_base), message.msg_iov[i].iov_len);
  }
  return all;
}

int name(int number, sockaddr* address, socklen_t* size) {
  if (file_of(number) == nullptr) return fail(EBADF);
  sockaddr_in native = {};
  native.sin_family = AF_INET;
  native.sin_port = htons(static_cast<std::uint16_t>(number));
  native.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(address, &native, std::min<std::size_t>(*size, sizeof native));
  *size = sizeof native;
  return 0;
}

int flags_of(int number, int command, ...) {
  FERMATA_ASSERT(command == F_GETFD);
  return file_of(number) == nullptr ? fail(EBADF) : FD_CLOEXEC;
}

}  // namespace

os::SystemCalls FakeCalls::table(FakeKernel& kernel) {
  FERMATA_ASSERT(current == nullptr);
  current = &kernel;
  os::SystemCalls calls;
  fill_time(calls);
  fill_descriptors(calls);
  fill_waits(calls);
  fill_sockets(calls);
  return calls;
}

void FakeCalls::leave(FakeKernel& kernel) noexcept {
  FERMATA_ASSERT(current == &kernel);
  current = nullptr;
}

void FakeCalls::fill_time(os::SystemCalls& calls) {
  calls.clock_gettime = [](clockid_t, timespec* time) {
    const std::int64_t now = current->now().nanoseconds;
    *time = {now / kSecond, now % kSecond};
    return 0;
  };
  // libevent's only, which makes the rest of its calls itself.
  calls.timerfd_create = [](clockid_t, int) { return fail(ENOSYS); };
  calls.timerfd_settime = [](int, int, const itimerspec*, itimerspec*) { return fail(ENOSYS); };
}

void FakeCalls::fill_descriptors(os::SystemCalls& calls) {
  calls.close = [](int number) {
    if (file_of(number) == nullptr) return fail(EBADF);
    current->close(number);
    return 0;
  };
  calls.dup3 = [](int number, int target, int) {
    const FakeKernel::File file = current->file(number);
    if (file == nullptr) return fail(EBADF);
    if (current->answers().once_in(8)) return fail(EINTR);
    if (file_of(target) != nullptr) current->close(target);
    current->files_[target] = file;
    return target;
  };
  calls.eventfd = [](unsigned count, int) {
    const FakeKernel::File file = current->make(FakeKind::Counter);
    file->count = count;
    return current->give(file);
  };
  calls.fcntl = flags_of;
  calls.fstat = [](int number, struct stat* status) {
    FakeFile* const file = file_of(number);
    if (file == nullptr) return fail(EBADF);
    *status = {};
    status->st_ino = file->identity;
    status->st_mode = S_IFSOCK;
    return 0;
  };
  calls.read = [](int number, void* buffer, size_t size) -> ssize_t {
    FakeFile* const file = file_of(number);
    FERMATA_ASSERT(file != nullptr && file->kind == FakeKind::Counter);
    FERMATA_ASSERT(size == sizeof file->count);
    if (file->count == 0) return fail(EAGAIN);
    if (refuses()) return -1;
    std::memcpy(buffer, &file->count, size);
    file->count = 0;
    return static_cast<ssize_t>(size);
  };
  calls.write = [](int number, const void* data, size_t size) -> ssize_t {
    FakeFile* const file = file_of(number);
    FERMATA_ASSERT(file != nullptr && file->kind == FakeKind::Counter);
    std::uint64_t added = 0;
    FERMATA_ASSERT(size == sizeof added);
    std::memcpy(&added, data, size);
    file->count += added;
    return static_cast<ssize_t>(size);
  };
}

void FakeCalls::fill_waits(os::SystemCalls& calls) {
  static constexpr auto kWait = [](int epoll, epoll_event* events, int room, Instant wake_by) {
    const FakeKernel::File file = current->file(epoll);
    FERMATA_ASSERT(file != nullptr && file->kind == FakeKind::Epoll);
    const auto found = current->wait_for([&] { return current->interests_of(*file); }, wake_by,
                                         static_cast<std::size_t>(room));
    if (!found) return -1;
    for (const auto& each : *found) *events++ = {.events = each.found, .data = {.u64 = each.data}};
    return static_cast<int>(found->size());
  };
  calls.epoll_create1 = [](int) { return current->give(current->make(FakeKind::Epoll)); };
  calls.epoll_ctl = [](int epoll, int operation, int number, epoll_event* event) {
    const FakeKernel::File file = current->file(number);
    if (file == nullptr) return fail(EBADF);
    auto& interests = file_of(epoll)->interests;
    const FakeFile::Key key(file->identity, number);
    if (interests.contains(key) == (operation == EPOLL_CTL_ADD)) {
      return fail(operation == EPOLL_CTL_ADD ? EEXIST : ENOENT);
    }
    interests.erase(key);
    if (operation == EPOLL_CTL_DEL) return 0;
    interests.emplace(key, FakeFile::Interest{file, event->events, event->data.u64});
    return 0;
  };
  calls.epoll_wait = [](int epoll, epoll_event* events, int room, int milliseconds) {
    return kWait(epoll, events, room, deadline_of(milliseconds));
  };
  calls.epoll_pwait2 = [](int epoll, epoll_event* events, int room, const timespec* limit,
                          const sigset_t*) {
    if (!current->options_.nanoseconds) return fail(ENOSYS);
    return kWait(epoll, events, room, deadline_of(limit));
  };
  static constexpr auto kPoll = [](pollfd* asked, nfds_t count, Instant wake_by) {
    std::vector<FakeKernel::Asked> all;
    for (nfds_t i = 0; i < count; ++i) {
      asked[i].revents = 0;
      all.push_back({asked[i].fd, current->file(asked[i].fd),
                     static_cast<std::uint16_t>(asked[i].events), i});
    }
    const auto found = current->wait_for([&] { return all; }, wake_by, count);
    if (!found) return -1;
    for (const auto& each : *found) asked[each.data].revents = static_cast<short>(each.found);
    return static_cast<int>(found->size());
  };
  calls.poll = [](pollfd* asked, nfds_t count, int milliseconds) {
    return kPoll(asked, count, deadline_of(milliseconds));
  };
  calls.ppoll = [](pollfd* asked, nfds_t count, const timespec* limit, const sigset_t*) {
    return kPoll(asked, count, deadline_of(limit));
  };
  calls.pselect = [](int end, fd_set* readable, fd_set* writable, fd_set* exceptional,
                     const timespec* limit, const sigset_t*) {
    // Each set, what of readiness is in it, and what it stands for when it is asked for.
    const struct {
      fd_set* set;
      std::uint32_t kinds;
      std::uint32_t events;
    } kSets[] = {{readable, EPOLLIN | EPOLLHUP | EPOLLERR, EPOLLIN},
                 {writable, EPOLLOUT | EPOLLERR, EPOLLOUT},
                 {exceptional, EPOLLPRI, EPOLLPRI}};
    std::vector<FakeKernel::Asked> all;
    for (int number = 0; number < end; ++number) {
      std::uint32_t events = 0;
      for (const auto& each : kSets) events |= FD_ISSET(number, each.set) ? each.events : 0;
      if (events == 0) continue;
      all.push_back({number, current->file(number), events});
      // Only those that read are told of a hang-up.
      all.back().always = EPOLLERR | ((events & EPOLLIN) != 0 ? EPOLLHUP : 0u);
      if (all.back().file == nullptr) return fail(EBADF);
    }
    const auto found = current->wait_for([&] { return all; }, deadline_of(limit), all.size());
    if (!found) return -1;
    int bits = 0;
    fd_set before[3];
    for (std::size_t i = 0; i < 3; ++i) {
      before[i] = *kSets[i].set;
      FD_ZERO(kSets[i].set);
    }
    for (const auto& each : *found) {
      for (std::size_t i = 0; i < 3; ++i) {
        if (!FD_ISSET(each.number, &before[i]) || (each.found & kSets[i].kinds) == 0) continue;
        FD_SET(each.number, kSets[i].set);
        ++bits;
      }
    }
    return bits;
  };
}

/// Something is wrong with one connection, or with the process for a while; 0 for nothing.
int FakeCalls::trouble_of_accept(FakeKernel& kernel) {
  constexpr auto kShortage = std::chrono::milliseconds(10);
  constexpr int kTroubles[] = {ECONNABORTED, EINTR, EMFILE, ENOBUFS};
  FakeAnswers& answers = kernel.answers();
  if (kernel.now() < kernel.short_until_) return EMFILE;
  if (!answers.once_in(6)) return 0;
  const int trouble = kTroubles[answers.below(std::size(kTroubles))];
  if (trouble == EMFILE || trouble == ENOBUFS) kernel.short_until_ = kernel.now() + kShortage;
  return trouble;
}

void FakeCalls::fill_sockets(os::SystemCalls& calls) {
  calls.socket = [](int, int, int) { return current->give(current->make(FakeKind::Socket)); };
  calls.bind = [](int, const sockaddr*, socklen_t) { return 0; };
  calls.listen = [](int number, int) {
    file_of(number)->kind = FakeKind::Listener;
    return 0;
  };
  calls.accept4 = [](int number, sockaddr*, socklen_t*, int) {
    FakeFile* const file = file_of(number);
    if (file->pending.empty()) return fail(EAGAIN);
    if (const int trouble = trouble_of_accept(*current); trouble != 0) return fail(trouble);
    const FakeKernel::File first = file->pending.front();
    file->pending.erase(file->pending.begin());
    return current->give(first);
  };
  calls.connect = [](int, const sockaddr*, socklen_t) { return fail(ENETUNREACH); };
  calls.getsockname = name;
  calls.getpeername = name;
  calls.getsockopt = [](int, int, int, void* value, socklen_t* size) {
    std::memset(value, 0, *size);
    return 0;
  };
  calls.setsockopt = [](int, int, int, const void*, socklen_t) { return 0; };
  calls.recv = receive;
  calls.send = [](int number, const void* data, size_t size, int) {
    return transmit(number, {static_cast<const char*>(data), size});
  };
  calls.sendmsg = [](int number, const msghdr* message, int) {
    return transmit(number, gathered(*message));
  };
  calls.shutdown = [](int, int) { return 0; };
}

}  // namespace fermata::test
