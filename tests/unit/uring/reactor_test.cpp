// SPDX-License-Identifier: Apache-2.0
#include "fermata/uring/reactor.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "fermata/core/suspend.hpp"
#include "fermata/core/timer.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/system/system_calls.hpp"
#include "fermata/uv/reactor.hpp"
#include "tests/conformance/uring_arm.hpp"
#include "tests/support/events.hpp"
#include "tests/support/main_test.hpp"
#include "tests/support/open_descriptors.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using conformance::UringArm;
using test::open_descriptors;
using test::thrown_by;

class UringReactor : public ::testing::Test, protected UringArm {};

MAIN_TEST_F(UringReactor, NamesThePartThatItHasNot) {
  backend::Reactor& reactor = current_runtime().reactor();
  EXPECT_EQ(reactor.name(), "uring");
  const std::string prefix = "fermata::Unsupported: reactor 'uring' has no part '";
  EXPECT_EQ(thrown_by([&] { (void)reactor.datagrams(); }), prefix + "datagrams'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.files(); }), prefix + "files'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.names(); }), prefix + "names'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.processes(); }), prefix + "processes'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.file_watches(); }), prefix + "file watches'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.threads(); }), prefix + "threads'");
  EXPECT_EQ(thrown_by([] { (void)PipeListener::bind("/tmp/fermata-nobody"); }),
            prefix + "Unix sockets'");
  EXPECT_EQ(thrown_by([&] { (void)reactor.streams().open_pipe(); }), prefix + "pipes'");
  EXPECT_EQ(
      thrown_by([&] { (void)reactor.streams().open_standard(backend::StandardStream::Input); }),
      prefix + "standard input'");
  delay(1ms);  // The run goes on.
}

TEST_F(UringReactor, LeavesNothingBehind) {
  UringArm::run([] { offload([] {}); });  // The pool's threads come and stay.
  const auto before = open_descriptors();
  UringArm::run([] {
    TcpListener listener = TcpListener::bind({"127.0.0.1", 0});
    TcpStream client = TcpStream::connect(listener.local_address());
    const auto server = listener.accept();
    client.write("unread");
    const int event = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    Descriptor descriptor(event, DescriptorOwner::Runtime);
    EXPECT_THROW(descriptor.wait(PollMask::Readable | PollMask::Disconnect, {.timeout = 1ms}),
                 Timeout);
  });
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(UringReactor, ServesOneRunAfterTheOtherOnAnyThread) {
  Runtime runtime(uring::make_reactor(), {.handle_stop_signals = false});
  const auto run = [&] {
    int done = 0;
    runtime.run([&] {
      delay(1ms);
      done = offload([] { return 7; });
    });
    EXPECT_EQ(done, 7);
  };
  run();
  std::thread(run).join();
  run();
}

// --- where the system refuses it ---

std::unique_ptr<backend::Reactor> best_reactor() {
  return uring::is_available() ? uring::make_reactor() : uv::make_reactor();
}

TEST(RefusedRing, LeavesAnotherReactorToChoose) {
  EXPECT_EQ(best_reactor()->name(), uring::is_available() ? "uring" : "uv");
}

/// A kernel that answers io_uring_setup as it is told, and says how it is set up.
struct Refusing {
  static inline int code = 0;
  static inline bool old = false;
  static inline const char* setting = nullptr;

  static long syscall(long number, ...) {
    if (number == SYS_io_uring_setup && code != 0) return fail(code);
    if (number == SYS_io_uring_register && old) return fail(EINVAL);
    va_list arguments;
    va_start(arguments, number);
    const long first = va_arg(arguments, long);
    const long second = va_arg(arguments, long);
    const long third = va_arg(arguments, long);
    const long fourth = va_arg(arguments, long);
    va_end(arguments);
    return ::syscall(number, first, second, third, fourth);
  }

  static int open(const char*, int, ...) {
    return setting == nullptr ? fail(ENOENT) : ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  }

  static ssize_t read(int, void* buffer, std::size_t) {
    std::memcpy(buffer, setting, std::strlen(setting));
    return static_cast<ssize_t>(std::strlen(setting));
  }

  static os::SystemCalls calls() {
    os::SystemCalls calls = os::kernel;
    calls.syscall = syscall;
    calls.open = open;
    calls.read = read;
    return calls;
  }

 private:
  static int fail(int error) {
    errno = error;
    return -1;
  }
};

std::string refusal_of(int code, const char* setting) {
  Refusing::code = code;
  Refusing::old = false;
  Refusing::setting = setting;
  const os::ReplacedKernel replaced(Refusing::calls());
  EXPECT_FALSE(uring::is_available());
  const std::string text = thrown_by([] { (void)uring::make_reactor(); });
  EXPECT_EQ(text, "fermata::InputOutputError: " + uring::refusal());
  return uring::refusal();
}

TEST(RefusedRing, IsExplainedByTheSettingOfTheSystem) {
  EXPECT_EQ(refusal_of(EPERM, "2\n"),
            "create an io_uring (/proc/sys/kernel/io_uring_disabled is 2): "
            "Operation not permitted");
}

TEST(RefusedRing, IsExplainedByAFilterWhereTheSettingAllowsIt) {
  const std::string expected =
      "create an io_uring (a filter of system calls or a security module refuses it): "
      "Operation not permitted";
  EXPECT_EQ(refusal_of(EPERM, "0\n"), expected);
  EXPECT_EQ(refusal_of(EPERM, nullptr), expected);
}

TEST(RefusedRing, IsExplainedByAKernelThatHasNone) {
  EXPECT_EQ(refusal_of(ENOSYS, nullptr),
            "create an io_uring (the kernel has none, or hides it): Function not implemented");
}

TEST(RefusedRing, IsExplainedByTheErrorElse) {
  EXPECT_EQ(refusal_of(EMFILE, nullptr), "create an io_uring: Too many open files");
}

TEST_F(UringReactor, NeedsAKernelThatIsNewEnough) {
  Refusing::code = 0;
  Refusing::old = true;
  const os::ReplacedKernel replaced(Refusing::calls());
  EXPECT_EQ(uring::refusal(), "create an io_uring (Linux 6.0 is needed): Function not implemented");
}

}  // namespace
}  // namespace fermata
