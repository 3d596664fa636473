// SPDX-License-Identifier: Apache-2.0

// Names of Unix sockets in the file system of a simulated machine.

#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "fermata/core/suspend.hpp"
#include "fermata/io/pipe.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;

sockaddr_un named(const char* path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path);
  return address;
}

/// 0, or errno.
int bind_to(int socket, const char* path) {
  const sockaddr_un address = named(path);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  return ::bind(socket, at, sizeof address) == 0 ? 0 : errno;
}

int connect_to(const char* path, int type = SOCK_STREAM) {
  const int socket = ::socket(AF_UNIX, type, 0);
  const sockaddr_un address = named(path);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  const int code = ::connect(socket, at, sizeof address) == 0 ? 0 : errno;
  ::close(socket);
  return code;
}

int listener_at(const char* path) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  EXPECT_EQ(bind_to(socket, path), 0);
  EXPECT_EQ(::listen(socket, 8), 0);
  return socket;
}

class SocketNames : public test::WorldFixture {
 protected:
  void run_alone(std::function<void()> body) {
    world_->node("main", std::move(body));
    run();
  }
};

TEST_F(SocketNames, AreFiles) {
  run_alone([] {
    ::umask(027);
    const int listener = listener_at("/socket");
    struct stat status = {};
    EXPECT_EQ(::stat("/socket", &status), 0);
    EXPECT_EQ(status.st_mode, static_cast<mode_t>(S_IFSOCK | 0750));
    EXPECT_EQ(::open("/socket", O_RDWR), -1);
    EXPECT_EQ(errno, ENXIO);
    EXPECT_EQ(::truncate("/socket", 1), -1);
    EXPECT_EQ(errno, EINVAL);
    DIR* const root = ::opendir("/");
    bool is_listed = false;
    while (const dirent* const entry = ::readdir(root)) is_listed |= entry->d_type == DT_SOCK;
    ::closedir(root);
    EXPECT_TRUE(is_listed);
    ::close(listener);
  });
}

TEST_F(SocketNames, StayWhenTheirSocketIsClosed) {
  run_alone([] {
    EXPECT_EQ(connect_to("/socket"), ENOENT);
    const int listener = listener_at("/socket");
    EXPECT_EQ(connect_to("/socket"), 0);
    EXPECT_EQ(connect_to("/socket", SOCK_DGRAM), EPROTOTYPE);
    ::close(listener);
    EXPECT_EQ(connect_to("/socket"), ECONNREFUSED);
    const int next = ::socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(bind_to(next, "/socket"), EADDRINUSE);
    EXPECT_EQ(::unlink("/socket"), 0);
    EXPECT_EQ(connect_to("/socket"), ENOENT);
    EXPECT_EQ(bind_to(next, "/socket"), 0);
    EXPECT_EQ(connect_to("/socket"), ECONNREFUSED);  // It does not listen.
    EXPECT_EQ(bind_to(next, "/other"), EINVAL);
    EXPECT_EQ(::access("/other", F_OK), -1);
    ::close(next);
  });
}

TEST_F(SocketNames, LeadToTheirSocketWhateverTheyAreCalled) {
  run_alone([] {
    ::mkdir("/directory", 0755);
    ::chdir("/directory");
    const int listener = listener_at("socket");
    EXPECT_EQ(connect_to("/directory/socket"), 0);
    ::rename("socket", "/moved");
    ::symlink("/moved", "link");
    EXPECT_EQ(connect_to("link"), 0);
    EXPECT_EQ(connect_to("socket"), ENOENT);
    const int second = listener_at("socket");
    ::close(listener);
    EXPECT_EQ(connect_to("/moved"), ECONNREFUSED);
    EXPECT_EQ(connect_to("socket"), 0);
    ::close(::open("file", O_CREAT | O_WRONLY, 0644));
    EXPECT_EQ(connect_to("file"), ECONNREFUSED);
    EXPECT_EQ(connect_to("file/socket"), ENOTDIR);
    ::close(second);
  });
}

TEST_F(SocketNames, OfDatagramSocketsAreFilesAsWell) {
  run_alone([] {
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    EXPECT_EQ(bind_to(socket, "/socket"), 0);
    EXPECT_EQ(connect_to("/socket", SOCK_DGRAM), 0);
    EXPECT_EQ(connect_to("/socket"), EPROTOTYPE);
    ::close(socket);
    EXPECT_EQ(connect_to("/socket", SOCK_DGRAM), ECONNREFUSED);
    ::unlink("/socket");
    EXPECT_EQ(connect_to("/socket", SOCK_DGRAM), ENOENT);
  });
}

TEST_F(SocketNames, LeadFermatasOwnStreamsToForeignSockets) {
  run_alone([] {
    const int listener = listener_at("/socket");
    EXPECT_TRUE(PipeStream::connect("/socket").is_open());
    EXPECT_NE(test::error_of([] { (void)PipeListener::bind("/socket"); }, EADDRINUSE), "no error");
    ::close(listener);
    EXPECT_NE(test::error_of([] { (void)PipeStream::connect("/socket"); }, ENOENT), "no error");
  });
}

// A server that removes no name of before finds it after a crash, unless that has lost it.
TEST_F(SocketNames, AreThereAfterACrashUnlessTheyAreLost) {
  constexpr std::uint64_t kSeeds = 50;
  std::set<int> found;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    begin(seed);
    int life = 0;
    world_->service("main", [&] {
      const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
      const int code = bind_to(socket, "/socket");
      if (++life == 2) {
        found.insert(code);
        return;
      }
      EXPECT_EQ(code, 0);
      delay(1h);
    });
    world_->at(1s, [this] { world_->node("main").crash(); });
    world_->at(2s, [this] { world_->node("main").restart(); });
    world_->node("other", [] { delay(3s); });
    run();
  }
  EXPECT_EQ(found, (std::set<int>{0, EADDRINUSE}));
}

}  // namespace
}  // namespace fermata::sim
