// SPDX-License-Identifier: Apache-2.0

// Calls on files that go on while their program does: io_setup() and its relatives.

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/core/suspend.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

/// -1 as the negative errno.
long call_number(long number, auto... arguments) {
  const long result = ::syscall(number, arguments...);
  return result < 0 ? -errno : result;
}

long make_queue(unsigned most, aio_context_t& queue) {
  return call_number(SYS_io_setup, most, &queue);
}

long submit(aio_context_t queue, std::vector<iocb*> calls) {
  return call_number(SYS_io_submit, queue, static_cast<long>(calls.size()), calls.data());
}

long fetch(aio_context_t queue, long least, long most, io_event* room,
           const timespec* limit = nullptr) {
  return call_number(SYS_io_getevents, queue, least, most, room, limit);
}

template <class Memory>
iocb make_call(int opcode, int descriptor, Memory* memory, std::size_t size, off64_t offset) {
  iocb made = {};
  made.aio_lio_opcode = static_cast<std::uint16_t>(opcode);
  made.aio_fildes = static_cast<std::uint32_t>(descriptor);
  made.aio_buf = reinterpret_cast<std::uintptr_t>(memory);
  made.aio_nbytes = size;
  made.aio_offset = offset;
  return made;
}

iocb make_sync(int descriptor) {
  return make_call<void>(IOCB_CMD_FSYNC, descriptor, nullptr, 0, 0);
}

int make_empty(const char* path) { return ::open(path, O_RDWR | O_CREAT | O_TRUNC, 0644); }

std::string contents_now(const char* path) {
  const int file = ::open(path, O_RDONLY);
  if (file < 0) return "-";
  std::array<char, 100> text = {};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  ::close(file);
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

class Queues : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

// --- as Linux does it ---

/// What a program sees, on any system.
class QueueScript {
 public:
  std::vector<long> run() {
    ::unlink("queued");
    transfers();
    refusals();
    refused_queues();
    counters();
    polls();
    return answers_;
  }

 private:
  void note(long answer) { answers_.push_back(answer); }

  // What Linux tells of a poll may be more than was asked for.
  void note_poll(aio_context_t queue) {
    io_event result = {};
    note(fetch(queue, 1, 1, &result));
    note(static_cast<long>(result.res) & POLLIN);
  }

  void note_result(aio_context_t queue) {
    io_event result = {};
    note(fetch(queue, 1, 1, &result));
    note(static_cast<long>(result.data));
    note(result.res);
    note(result.res2);
  }

  void transfers() {
    aio_context_t queue = 0;
    note(make_queue(8, queue));
    const int file = make_empty("queued");
    std::string text = "hello, world";
    std::array<char, 5> head = {};
    std::array<char, 20> tail = {};
    const std::array<iovec, 2> pieces = {iovec{head.data(), head.size()},
                                         iovec{tail.data(), tail.size()}};
    const std::array<iovec, 2> parts = {iovec{text.data(), 3}, iovec{text.data() + 7, 2}};
    std::array calls = {
        make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 2),
        make_call(IOCB_CMD_PREADV, file, pieces.data(), 2, 1),
        make_call(IOCB_CMD_PWRITEV, file, parts.data(), 2, 20),
        make_call(IOCB_CMD_PREAD, file, tail.data(), tail.size(), 15),
        make_call(IOCB_CMD_PREAD, file, tail.data(), tail.size(), 100),
        make_call(IOCB_CMD_PWRITE, file, text.data(), 0, 0),
        make_sync(file),
        make_sync(file),
    };
    calls[7].aio_lio_opcode = IOCB_CMD_FDSYNC;
    for (iocb& each : calls) {
      each.aio_data = 40 + answers_.size();
      note(submit(queue, {&each}));
      note_result(queue);
      for (const char byte : head) note(byte);
      for (const char byte : tail) note(byte);
    }
    note(::lseek(file, 0, SEEK_CUR));
    note(::lseek(file, 0, SEEK_END));
    note(call_number(SYS_io_destroy, queue));
    note(call_number(SYS_io_destroy, queue));
    note(::close(file));
  }

  void refusals() {
    aio_context_t queue = 0;
    note(make_queue(8, queue));
    const int file = make_empty("queued");
    const int only_read = ::open("queued", O_RDONLY);
    const int only_written = ::open("queued", O_WRONLY);
    const int directory = ::open(".", O_RDONLY | O_DIRECTORY);
    const int path = ::open("queued", O_PATH);
    std::array<char, 4> text = {'a', 'b', 'c', 'd'};
    const iocb good = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 0);
    std::vector<iocb> bad(17, good);
    bad[0].aio_fildes = 999;
    bad[1].aio_fildes = static_cast<std::uint32_t>(only_read);
    bad[2] = make_call(IOCB_CMD_PREAD, only_written, text.data(), 1, 0);
    bad[3].aio_lio_opcode = 77;
    bad[4].aio_reserved2 = 1;
    bad[5].aio_nbytes = ~0ULL;
    bad[6].aio_offset = -1;
    bad[7].aio_rw_flags = 0x4000;
    bad[8].aio_flags = IOCB_FLAG_RESFD;
    bad[8].aio_resfd = 999;
    bad[9].aio_flags = IOCB_FLAG_RESFD;
    bad[9].aio_resfd = static_cast<std::uint32_t>(file);
    bad[10] = make_call(IOCB_CMD_PREAD, directory, text.data(), 1, 0);
    bad[11].aio_fildes = static_cast<std::uint32_t>(path);
    bad[12] = make_sync(file);
    bad[12].aio_nbytes = 1;
    bad[13] = make_call(IOCB_CMD_PWRITEV, file, text.data(), 1025, 0);
    bad[14] = make_sync(999);
    bad[15].aio_lio_opcode = 6;  // A call without an effect, which Linux has given up.
    bad[16].aio_rw_flags = 0;
    for (iocb& each : bad) {
      note(submit(queue, {&each}));
      if (answers_.back() > 0) note_result(queue);
    }
    iocb before = good;
    note(submit(queue, {&before, &bad[0], &before}));
    note_result(queue);
    note(submit(queue, {nullptr}));
    note(submit(queue, {}));
    note(call_number(SYS_io_submit, queue, -1L, nullptr));
    note(call_number(SYS_io_submit, queue, 1L, nullptr));
    note(call_number(SYS_io_cancel, queue, &before, nullptr));
    note(call_number(SYS_io_destroy, queue));
    for (const int each : {file, only_read, only_written, directory, path}) note(::close(each));
  }

  void refused_queues() {
    aio_context_t queue = 0;
    note(make_queue(0, queue));
    note(make_queue(~0u, queue));
    note(call_number(SYS_io_setup, 1u, nullptr));
    note(make_queue(1, queue));
    note(make_queue(1, queue));
    io_event room = {};
    const timespec now = {0, 0};
    const timespec soon = {0, 1000};
    note(fetch(queue, 0, 0, &room));
    note(fetch(queue, 0, 1, &room));
    note(fetch(queue, 1, 1, &room, &now));
    note(fetch(queue, 1, 1, &room, &soon));
    note(fetch(queue, 2, 1, &room));
    note(fetch(queue, -1, 1, &room));
    note(fetch(queue, 0, -1, &room));
    note(call_number(SYS_io_destroy, queue));
    note(fetch(queue, 1, 1, &room));
    iocb* none = nullptr;
    note(call_number(SYS_io_submit, queue, 1L, &none));
    note(call_number(SYS_io_destroy, aio_context_t{0}));
  }

  void counters() {
    aio_context_t queue = 0;
    note(make_queue(4, queue));
    const int file = make_empty("queued");
    const int counter = ::eventfd(0, EFD_NONBLOCK);
    std::array<char, 2> text = {'x', 'y'};
    std::array<iocb, 3> calls = {};
    for (iocb& each : calls) {
      each = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 0);
      each.aio_flags = IOCB_FLAG_RESFD;
      each.aio_resfd = static_cast<std::uint32_t>(counter);
    }
    note(submit(queue, {&calls[0], &calls[1], &calls[2]}));
    std::array<io_event, 5> room = {};
    note(fetch(queue, 3, 5, room.data()));
    for (int i = 0; i < 3; ++i) note(room[static_cast<std::size_t>(i)].res);
    eventfd_t count = 0;
    note(::eventfd_read(counter, &count));
    note(static_cast<long>(count));
    note(call_number(SYS_io_destroy, queue));
    note(::close(counter) + ::close(file));
  }

  void polls() {
    aio_context_t queue = 0;
    note(make_queue(4, queue));
    std::array<int, 2> ends = {};
    note(::pipe(ends.data()));
    iocb poll = make_call<void>(IOCB_CMD_POLL, ends[0], nullptr, 0, 0);
    poll.aio_buf = POLLIN;
    io_event room = {};
    const timespec now = {0, 0};
    note(submit(queue, {&poll}));
    note(fetch(queue, 0, 1, &room, &now));
    note(::write(ends[1], "x", 1));
    note_poll(queue);
    note(submit(queue, {&poll}));
    note_poll(queue);
    char byte = 0;
    note(::read(ends[0], &byte, 1));
    note(submit(queue, {&poll}));
    note(call_number(SYS_io_cancel, queue, &poll, &room));
    note_poll(queue);
    note(call_number(SYS_io_cancel, queue, &poll, &room));
    poll.aio_nbytes = 1;
    note(submit(queue, {&poll}));
    note(call_number(SYS_io_destroy, queue));
    note(::close(ends[0]) + ::close(ends[1]));
  }

  std::vector<long> answers_;
};

TEST_F(Queues, AnswerAsLinuxDoes) {
  aio_context_t queue = 0;
  if (make_queue(1, queue) != 0) GTEST_SKIP() << "this Linux has no asynchronous calls";
  ASSERT_EQ(call_number(SYS_io_destroy, queue), 0);
  const std::string before = std::filesystem::current_path().string();
  ASSERT_EQ(::chdir(::testing::TempDir().c_str()), 0);
  const std::vector<long> real = QueueScript().run();
  ASSERT_EQ(::unlink("queued"), 0);
  ASSERT_EQ(::chdir(before.c_str()), 0);
  std::vector<long> simulated;
  run_alone([&] { simulated = QueueScript().run(); });
  ASSERT_EQ(simulated.size(), real.size());
  for (std::size_t i = 0; i < real.size(); ++i) EXPECT_EQ(simulated[i], real[i]) << "answer " << i;
}

// --- in time ---

TEST_F(Queues, ACallTakesTimeWhileItsProgramGoesOn) {
  run_alone([] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    const int file = make_empty("a");
    std::string text = "text";
    iocb write = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 0);
    const Instant begun = now();
    ASSERT_EQ(submit(queue, {&write}), 1);
    EXPECT_EQ(now(), begun);
    text = "TEXT";  // What there was to write has been taken.
    io_event result = {};
    const timespec none = {0, 0};
    EXPECT_EQ(fetch(queue, 1, 1, &result, &none), 0);
    EXPECT_EQ(fetch(queue, 1, 1, &result), 1);
    EXPECT_EQ(result.res, 4);
    EXPECT_EQ(result.obj, reinterpret_cast<std::uintptr_t>(&write));
    EXPECT_GE(now() - begun, 20us);
    EXPECT_EQ(contents_now("a"), "text");
  });
}

TEST_F(Queues, CallsEndInAnyOrder) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    begin(seed);
    run_alone([&] {
      aio_context_t queue = 0;
      ASSERT_EQ(make_queue(3, queue), 0);
      const int file = make_empty("a");
      std::string text = "abc";
      std::array<iocb, 3> writes = {};
      for (std::size_t i = 0; i < writes.size(); ++i) {
        writes[i] = make_call(IOCB_CMD_PWRITE, file, &text[i], 1, 0);
        writes[i].aio_data = static_cast<std::uint64_t>(text[i]);
      }
      ASSERT_EQ(submit(queue, {&writes[0], &writes[1], &writes[2]}), 3);
      std::array<io_event, 3> results = {};
      ASSERT_EQ(fetch(queue, 3, 3, results.data()), 3);
      std::string order;
      for (const io_event& each : results) order += static_cast<char>(each.data);
      EXPECT_EQ(contents_now("a"), order.substr(2));
      orders.insert(order);
    });
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST_F(Queues, AFullOneTakesNoCall) {
  run_alone([] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(2, queue), 0);
    const int file = make_empty("a");
    std::array<iocb, 3> calls = {make_sync(file), make_sync(file), make_sync(file)};
    EXPECT_EQ(submit(queue, {&calls[0], &calls[1], &calls[2]}), 2);
    EXPECT_EQ(submit(queue, {&calls[2]}), -EAGAIN);
    delay(1s);
    EXPECT_EQ(submit(queue, {&calls[2]}), -EAGAIN);
    io_event result = {};
    EXPECT_EQ(fetch(queue, 1, 1, &result), 1);
    EXPECT_EQ(submit(queue, {&calls[2]}), 1);
    aio_context_t huge = 0;
    EXPECT_EQ(make_queue(65'535, huge), -EAGAIN);
    EXPECT_EQ(make_queue(65'534, huge), 0);
  });
}

TEST_F(Queues, TheEndOfOneWaitsForItsCalls) {
  run_alone([] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    std::string text = "text";
    iocb write = make_call(IOCB_CMD_PWRITE, make_empty("a"), text.data(), text.size(), 0);
    ASSERT_EQ(submit(queue, {&write}), 1);
    const Instant begun = now();
    EXPECT_EQ(call_number(SYS_io_destroy, queue), 0);
    EXPECT_GE(now() - begun, 20us);
    EXPECT_EQ(contents_now("a"), "text");
    EXPECT_EQ(submit(queue, {&write}), -EINVAL);
  });
}

TEST_F(Queues, WhoWaitsIsToldOfTheEndOfOne) {
  run_alone([] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    auto waiter = spawn([&] {
      io_event result = {};
      EXPECT_EQ(fetch(queue, 1, 1, &result), -EINVAL);
    });
    delay(1ms);
    EXPECT_EQ(call_number(SYS_io_destroy, queue), 0);
    await(waiter);
  });
}

TEST_F(Queues, ASignalInterruptsAWait) {
  run_alone([] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    action.sa_flags = SA_RESTART;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    const pthread_t self = ::pthread_self();
    auto sender = spawn([self] {
      delay(1ms);
      EXPECT_EQ(::pthread_kill(self, SIGUSR1), 0);
    });
    io_event result = {};
    EXPECT_EQ(fetch(queue, 1, 1, &result), -EINTR);
    await(sender);
  });
}

TEST_F(Queues, AProcessThatEndsHasMadeItsWrites) {
  run_alone([] {
    std::string text = "text";
    iocb write = {};
    begin_process("writer", [&] {
      aio_context_t queue = 0;
      ASSERT_EQ(make_queue(1, queue), 0);
      write = make_call(IOCB_CMD_PWRITE, make_empty("a"), text.data(), text.size(), 0);
      ASSERT_EQ(submit(queue, {&write}), 1);
    });
    delay(1s);
    EXPECT_EQ(contents_now("a"), "text");
  });
}

// --- crashes and faults ---

TEST_F(Queues, AtACrashEachWriteIsKeptLostOrTorn) {
  std::set<std::string> left;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    begin(seed);
    int life = 0;
    world_->service("main", [&] {
      if (++life == 2) {
        left.insert(contents_now("a"));
        return;
      }
      const int file = make_empty("a");
      ASSERT_EQ(::fsync(file) + ::fsync(::open("/", O_RDONLY)), 0);
      aio_context_t queue = 0;
      ASSERT_EQ(make_queue(2, queue), 0);
      std::string text = "ab";
      iocb write = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 0);
      iocb other = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 2);
      other.aio_rw_flags = RWF_DSYNC;
      io_event result = {};
      ASSERT_EQ(submit(queue, {&write}), 1);
      ASSERT_EQ(fetch(queue, 1, 1, &result), 1);
      if (seed % 2 == 0) {
        ASSERT_EQ(submit(queue, {&other}), 1);
        ASSERT_EQ(fetch(queue, 1, 1, &result), 1);
      }
      delay(1h);
    });
    world_->at(1s, [this] { world_->node("main").crash(); });
    world_->at(2s, [this] { world_->node("main").restart(); });
    world_->node("other", [] { delay(3s); });
    run();
  }
  EXPECT_EQ(left, (std::set<std::string>{"", "a", "ab", "abab"}));
}

TEST_F(Queues, ACrashDropsCalls) {
  int life = 0;
  world_->service("main", [&] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    if (++life == 2) return;
    std::string text = "ab";
    iocb write = make_call(IOCB_CMD_PWRITE, make_empty("a"), text.data(), text.size(), 0);
    io_event result = {};
    for (;;) {
      if (submit(queue, {&write}) != 1) break;
      if (fetch(queue, 1, 1, &result) != 1) break;
    }
  });
  world_->at(1s, [this] { world_->node("main").crash(); });
  world_->at(2s, [this] { world_->node("main").restart(); });
  world_->node("other", [] { delay(3s); });
  run();
  EXPECT_EQ(life, 2);
}

TEST_F(Queues, TheFaultsOfTheDiskReachThem) {
  std::set<long> found;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    begin(seed, FaultSet::parse("disk-error,disk-full,short-write"));
    run_alone([&] {
      aio_context_t queue = 0;
      ASSERT_EQ(make_queue(1, queue), 0);
      const int file = ::open("a", O_RDWR | O_CREAT, 0644);
      if (file < 0) return;
      std::string text = "abc";
      iocb write = make_call(IOCB_CMD_PWRITE, file, text.data(), text.size(), 0);
      io_event result = {};
      for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(submit(queue, {&write}), 1);
        ASSERT_EQ(fetch(queue, 1, 1, &result), 1);
        found.insert(static_cast<long>(result.res));
      }
    });
  }
  EXPECT_EQ(found, (std::set<long>{-ENOSPC, -EIO, 1, 2, 3}));
}

// --- libraries ---

TEST_F(Queues, IoUringIsNotThere) {
  run_alone([] {
    std::array<char, 120> parameters = {};
    EXPECT_EQ(call_number(425, 8u, parameters.data()), -ENOSYS);
  });
}

TEST_F(Queues, DebiansLibaioWorks) {
  void* const library = ::dlopen("libaio.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "libaio is not installed";
  const auto find = [library](const char* name) { return ::dlsym(library, name); };
  auto* const setup = reinterpret_cast<int (*)(int, aio_context_t*)>(find("io_queue_init"));
  auto* const send = reinterpret_cast<int (*)(aio_context_t, long, iocb**)>(find("io_submit"));
  auto* const receive = reinterpret_cast<int (*)(aio_context_t, long, long, io_event*, timespec*)>(
      ::dlvsym(library, "io_getevents", "LIBAIO_0.4"));
  auto* const release = reinterpret_cast<int (*)(aio_context_t)>(find("io_queue_release"));
  run_alone([&] {
    aio_context_t queue = 0;
    ASSERT_EQ(setup(4, &queue), 0);
    std::string text = "text";
    iocb write = make_call(IOCB_CMD_PWRITE, make_empty("a"), text.data(), text.size(), 0);
    iocb* calls[] = {&write};
    EXPECT_EQ(send(queue, 1, calls), 1);
    io_event result = {};
    timespec limit = {1, 0};
    EXPECT_EQ(receive(queue, 1, 1, &result, &limit), 1);
    EXPECT_EQ(result.res, 4);
    EXPECT_EQ(release(queue), 0);
    EXPECT_EQ(contents_now("a"), "text");
  });
}

#ifndef FERMATA_ASAN  // What a jump leaves behind is a leak.
TEST_F(Queues, AHandlerMayJumpOutOfACall) {
  run_alone([] {
    static sigjmp_buf before;
    struct sigaction action = {};
    action.sa_handler = [](int) { siglongjmp(before, 1); };
    ::sigaction(SIGALRM, &action, nullptr);
    static aio_context_t queue;
    static std::array<int, 2> ends;
    static char byte;
    queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    ASSERT_EQ(::pipe(ends.data()), 0);
    if (sigsetjmp(before, 1) == 0) {
      ::alarm(1);
      static iocb call;
      call = make_call(IOCB_CMD_PREAD, ends[0], &byte, 1, 0);
      submit(queue, {&call});
    }
    EXPECT_EQ(call_number(SYS_io_destroy, queue), 0);
  });
}
#endif

TEST_F(Queues, AWaitIsAsLongAsTheClockOfTheMachineShows) {
  Node& node = world_->node("main", [] {
    aio_context_t queue = 0;
    ASSERT_EQ(make_queue(1, queue), 0);
    const Instant begun = now();
    const timespec limit = {.tv_sec = 1'000, .tv_nsec = 0};
    io_event result = {};
    EXPECT_EQ(fetch(queue, 1, 1, &result, &limit), 0);
    const Instant between = now();
    EXPECT_EQ(::nanosleep(&limit, nullptr), 0);
    EXPECT_EQ(between - begun, now() - between);
  });
  world_->at(0s, [&] { node.set_clock_drift(50'000); });
  run();
}

}  // namespace
}  // namespace fermata::sim
