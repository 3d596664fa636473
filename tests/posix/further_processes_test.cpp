// SPDX-License-Identifier: Apache-2.0

// Further processes of a machine: what they share with its program, and what not.

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fermata/base/sanitizer.hpp"
#include "fermata/core/suspend.hpp"
#include "tests/posix/library/stubborn.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

struct Place {
  int domain = AF_INET;
  sockaddr_storage address = {};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

Place loopback() {
  Place place{.size = sizeof(sockaddr_in)};
  auto& address = reinterpret_cast<sockaddr_in&>(place.address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(7000);
  return place;
}

Place path() {
  Place place{.domain = AF_UNIX, .size = sizeof(sockaddr_un)};
  auto& address = reinterpret_cast<sockaddr_un&>(place.address);
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, "/socket");
  return place;
}

/// Tells each who connects its number.
void serve(const Place& place) {
  const int listener = ::socket(place.domain, SOCK_STREAM, 0);
  EXPECT_EQ(listener, 3);
  EXPECT_EQ(::bind(listener, place.get(), place.size), 0);
  EXPECT_EQ(::listen(listener, 8), 0);
  for (;;) {
    const int peer = ::accept(listener, nullptr, nullptr);
    if (peer < 0) return;  // The machine has crashed.
    const std::string text = std::to_string(::getpid());
    EXPECT_EQ(::write(peer, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    EXPECT_EQ(::close(peer), 0);
  }
}

/// Reads until the other end closes.
std::string read_all(int descriptor) {
  std::string all;
  std::array<char, 16> buffer{};
  for (ssize_t size = 0; (size = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
    all.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return all;
}

std::string ask(const Place& place) {
  const int client = ::socket(place.domain, SOCK_STREAM, 0);
  EXPECT_EQ(client, 3);
  EXPECT_EQ(::connect(client, place.get(), place.size), 0);
  const std::string answer = read_all(client);
  EXPECT_EQ(::close(client), 0);
  return answer;
}

class FurtherProcesses : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(FurtherProcesses, HaveNumbersAndDescriptorsOfTheirOwnOnOneNetwork) {
  for (const Place& place : {loopback(), path()}) {
    begin(1);
    run_alone([&] {
      begin_process("server", [&] { serve(place); });
      delay(1ms);
      EXPECT_EQ(::getpid(), 1000);
      EXPECT_EQ(ask(place), "11000");
      EXPECT_EQ(ask(place), "11000");
      EXPECT_EQ(::getpid(), 1000);
    });
  }
}

TEST_F(FurtherProcesses, HaveThreadsOfTheirOwn) {
  run_alone([] {
    bool ended = false;
    begin_process("other", [&] {
      std::thread([] { EXPECT_EQ(::getpid(), 11000); }).join();
      std::thread([] { ::pause(); }).detach();
      ::usleep(1000);
      ended = true;
    });
    std::thread([] { EXPECT_EQ(::getpid(), 1000); }).join();
    delay(10ms);
    EXPECT_TRUE(ended);
  });
}

TEST_F(FurtherProcesses, KeepEachOtherOutWithLocksUntilTheyEnd) {
  run_alone([] {
    begin_process("holder", [] {
      const int file = ::open("shared", O_RDWR | O_CREAT, 0644);
      EXPECT_EQ(::flock(file, LOCK_EX), 0);
      struct flock record = {};
      record.l_type = F_WRLCK;
      EXPECT_EQ(::fcntl(file, F_SETLK, &record), 0);
      ::sleep(2);
    });
    delay(1s);
    const int file = ::open("shared", O_RDWR);
    EXPECT_EQ(::flock(file, LOCK_EX | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
    struct flock record = {};
    record.l_type = F_WRLCK;
    EXPECT_EQ(::fcntl(file, F_GETLK, &record), 0);
    EXPECT_EQ(record.l_type, F_WRLCK);
    EXPECT_EQ(record.l_pid, 11000);
    EXPECT_EQ(::fcntl(file, F_SETLKW, &record), 0);
    EXPECT_EQ(::flock(file, LOCK_EX), 0);
    EXPECT_GE(now() - Instant{}, 2s);
  });
}

TEST_F(FurtherProcesses, CloseWhatIsOpenWhenTheyEnd) {
  run_alone([] {
    begin_process("server", [] {
      const Place place = loopback();
      const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(::bind(listener, place.get(), place.size), 0);
      EXPECT_EQ(::listen(listener, 8), 0);
      EXPECT_EQ(::write(::accept(listener, nullptr, nullptr), "last", 4), 4);
    });
    delay(1ms);
    EXPECT_EQ(ask(loopback()), "last");
  });
}

TEST_F(FurtherProcesses, EndWithTheirMachine) {
  int lives = 0;
  world_->service("main", [&] {
    ++lives;
    begin_process("server", [] { serve(loopback()); });
    delay(1ms);
    EXPECT_EQ(ask(loopback()), "11000");
    delay(1h);
  });
  world_->at(10ms, [&] { world_->node("main").crash(); });
  world_->at(20ms, [&] { world_->node("main").restart(); });
  world_->node("other", [] { delay(50ms); });
  run();
  EXPECT_EQ(lives, 2);
}

TEST_F(FurtherProcesses, AreTheSameInEachRun) {
  std::vector<std::uint64_t> hashes;
  for (int i = 0; i < 2; ++i) {
    begin(7);
    run_alone([] {
      begin_process("server", [] { serve(loopback()); });
      delay(1ms);
      std::thread([] { EXPECT_EQ(ask(loopback()), "11000"); }).join();
    });
    hashes.push_back(world_->trace_hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

#ifndef FERMATA_ASAN

TEST_F(FurtherProcesses, HaveVariablesOfLibrariesOfTheirOwn) {
  run_alone([] {
    EXPECT_EQ(stubborn_count(), 1);
    begin_process("other", [] {
      for (int i = 1; i <= 5; ++i) {
        EXPECT_EQ(stubborn_count(), i);
        EXPECT_EQ(stubborn_count_of_thread(), i);
        ::usleep(1000);
      }
    });
    for (int i = 2; i <= 5; ++i) {
      delay(1ms);
      EXPECT_EQ(stubborn_count(), i);
    }
  });
}

#endif

TEST(FurtherProcessesOutside, AreRefused) {
  EXPECT_EQ(test::error_of([] { begin_process("other", [] {}); }),
            "no runtime is running on this thread: expected a call inside Runtime::run");
}

}  // namespace
}  // namespace fermata::sim
