// SPDX-License-Identifier: Apache-2.0

// Blocking calls of the C library in coroutines of real programs: they suspend the coroutine, and
// others run meanwhile, on the same thread.

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "examples/foreign_client/store.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/posix/suspending/fixture.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using posix::suspending;
using test::any;
using test::loopback;
using test::Pipe;
using test::read_some;
using test::told;
using test::Told;

class Suspending : public test::OnEachDriver {};
INSTANTIATE_TEST_SUITE_P(Drivers, Suspending, test::every_driver(), test::driver_name);

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

TEST_P(Suspending, HiredisTalksToAServerOnItsOwnThread) {
  run([] {
    foreign_client::Store store;
    TcpListener listener = TcpListener::bind(Address::v4(INADDR_LOOPBACK, 0));
    const int port = listener.local_address().port();
    const auto server = spawn([&] {
      TcpStream stream = *listener.accept();
      EXPECT_THROW(foreign_client::serve_client(stream, store), InputOutputError);
    });
    const long long count = suspending([&] {
      const std::unique_ptr<redisContext, Free> context(redisConnect("127.0.0.1", port));
      EXPECT_EQ(context->err, 0) << context->errstr;
      long long last = 0;
      for (int i = 0; i < 3; ++i) {
        const std::unique_ptr<redisReply, Free> reply(
            static_cast<redisReply*>(redisCommand(context.get(), "INCR visitors")));
        if (reply == nullptr) return -1LL;
        last = reply->integer;
      }
      return last;
    });
    EXPECT_EQ(count, 3);
    await(server);
  });
}

TEST_P(Suspending, SleepsOverlap) {
  run([] {
    std::string order;
    std::vector<Coroutine<>> sleepers;
    for (const int turns : {3, 2, 1}) {
      sleepers.push_back(spawn([&order, turns] {
        suspending([&] { EXPECT_EQ(::usleep(static_cast<useconds_t>(turns) * 20'000), 0); });
        order += std::to_string(turns);
      }));
    }
    for (const auto& each : sleepers) await(each);
    EXPECT_EQ(order, "123");
  });
}

TEST_P(Suspending, APipeIsWaitedForByOneCoroutineAndWrittenByAnother) {
  run([] {
    suspending([] {
      const Pipe pipe;
      const auto writer =
          spawn([&] { suspending([&] { EXPECT_EQ(::write(pipe.writing, "ab", 2), 2); }); });
      EXPECT_EQ(read_some(pipe.reading), "ab");
      await(writer);
    });
  });
}

TEST_P(Suspending, ALargeWriteWaitsUntilAllOfItIsTaken) {
  run([] {
    suspending([] {
      for (const bool is_socket : {false, true}) {
        const Pipe pipe(is_socket);
        const std::string sent(1 << 20, 'x');
        const auto writer = spawn([&] {
          suspending([&] {
            EXPECT_EQ(told(::write(pipe.writing, sent.data(), sent.size())), (Told{1 << 20, 0}));
          });
        });
        std::size_t received = 0;
        while (received < sent.size()) received += read_some(pipe.reading).size();
        EXPECT_EQ(received, sent.size());
        await(writer);
      }
    });
  });
}

TEST_P(Suspending, AFileThatIsSentWaitsUntilItIsTaken) {
  run([] {
    suspending([] {
      constexpr std::size_t kSize = 1 << 20;
      const int file = ::memfd_create("sent", 0);
      ASSERT_EQ(::ftruncate(file, kSize), 0);
      const Pipe pipe(true);
      const auto writer = spawn([&] {
        suspending([&] {
          off_t offset = 0;
          while (offset < off_t{kSize}) {
            ASSERT_GT(::sendfile(pipe.writing, file, &offset, kSize), 0);
          }
        });
      });
      std::size_t received = 0;
      while (received < kSize) received += read_some(pipe.reading).size();
      await(writer);
      ::close(file);
    });
  });
}

TEST_P(Suspending, APollOfManyAnswersWhenOneIsReady) {
  run([] {
    suspending([] {
      const Pipe first;
      const Pipe second;
      std::array<pollfd, 3> asked = {pollfd{first.reading, POLLIN, 0},
                                     pollfd{second.reading, POLLIN, 0}, pollfd{-1, POLLIN, 0}};
      const auto writer = spawn([&] { suspending([&] { ::write(second.writing, "a", 1); }); });
      EXPECT_EQ(told(::poll(asked.data(), asked.size(), -1)), (Told{1, 0}));
      EXPECT_EQ(asked[0].revents, 0);
      EXPECT_EQ(asked[1].revents, POLLIN);
      await(writer);
    });
  });
}

TEST_P(Suspending, APollEndsWhenItsTimeIsOver) {
  run([] {
    suspending([] {
      const Pipe pipe;
      std::array<pollfd, 2> asked = {pollfd{pipe.reading, POLLIN, 0},
                                     pollfd{pipe.reading, POLLIN, 0}};
      EXPECT_EQ(told(::poll(asked.data(), 1, 10)), (Told{0, 0}));
      EXPECT_EQ(told(::poll(asked.data(), 2, 10)), (Told{0, 0}));
      EXPECT_EQ(told(::poll(nullptr, 0, 10)), (Told{0, 0}));
      EXPECT_EQ(told(::poll(asked.data(), 2, 0)), (Told{0, 0}));
    });
  });
}

TEST_P(Suspending, APollOfAFileAnswersAtOnce) {
  run([] {
    suspending([] {
      const int file = ::open("/proc/self/exe", O_RDONLY);
      const Pipe pipe;
      std::array<pollfd, 2> asked = {pollfd{file, 0, 0}, pollfd{pipe.reading, POLLIN, 0}};
      EXPECT_EQ(told(::poll(asked.data(), 2, 10)), (Told{0, 0}));
      asked[0].events = POLLIN;
      EXPECT_EQ(told(::poll(asked.data(), 2, -1)), (Told{1, 0}));
      ::close(file);
    });
  });
}

TEST_P(Suspending, AnAskingLoopLetsOthersRun) {
  run([] {
    suspending([] {
      const Pipe pipe;
      const auto writer = spawn([&] { suspending([&] { ::write(pipe.writing, "a", 1); }); });
      pollfd asked = {pipe.reading, POLLIN, 0};
      while (::poll(&asked, 1, 0) == 0) {
      }
      EXPECT_EQ(asked.revents, POLLIN);
      await(writer);
    });
  });
}

TEST_P(Suspending, ASelectAnswersWhenOneIsReady) {
  run([] {
    suspending([] {
      const Pipe pipe;
      fd_set readable;
      FD_ZERO(&readable);
      FD_SET(pipe.reading, &readable);
      const auto writer = spawn([&] { suspending([&] { ::write(pipe.writing, "a", 1); }); });
      EXPECT_EQ(told(::select(pipe.reading + 1, &readable, nullptr, nullptr, nullptr)),
                (Told{1, 0}));
      EXPECT_TRUE(FD_ISSET(pipe.reading, &readable));
      await(writer);
    });
  });
}

TEST_P(Suspending, AnEpollAnswersWhenOneIsReady) {
  run([] {
    suspending([] {
      const Pipe pipe;
      const int epoll = ::epoll_create1(0);
      epoll_event event = {.events = EPOLLIN, .data = {.fd = pipe.reading}};
      ASSERT_EQ(::epoll_ctl(epoll, EPOLL_CTL_ADD, pipe.reading, &event), 0);
      EXPECT_EQ(told(::epoll_wait(epoll, &event, 1, 10)), (Told{0, 0}));
      const auto writer = spawn([&] { suspending([&] { ::write(pipe.writing, "a", 1); }); });
      EXPECT_EQ(told(::epoll_wait(epoll, &event, 1, -1)), (Told{1, 0}));
      EXPECT_EQ(event.data.fd, pipe.reading);
      await(writer);
      ::close(epoll);
    });
  });
}

TEST_P(Suspending, AReceiverWaitsAsLongAsItsSocketSays) {
  run([] {
    suspending([] {
      const Pipe pipe(true);
      const timeval limit = {.tv_sec = 0, .tv_usec = 10'000};
      ASSERT_EQ(::setsockopt(pipe.reading, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit), 0);
      char byte = 0;
      EXPECT_EQ(told(::recv(pipe.reading, &byte, 1, 0)), (Told{-1, EAGAIN}));
      EXPECT_EQ(told(::read(pipe.reading, &byte, 1)), (Told{-1, EAGAIN}));
      ASSERT_EQ(::setsockopt(pipe.writing, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit), 0);
      const std::string much(1 << 22, 'x');
      const long sent = ::send(pipe.writing, much.data(), much.size(), 0);
      EXPECT_GT(sent, 0);
      EXPECT_LT(sent, 1 << 22);
      EXPECT_EQ(told(::send(pipe.writing, much.data(), much.size(), 0)), (Told{-1, EAGAIN}));
    });
  });
}

TEST_P(Suspending, AReceiverOfAllWaitsForThePieces) {
  run([] {
    suspending([] {
      const Pipe pipe(true);
      const auto writer = spawn([&] {
        suspending([&] {
          ::write(pipe.writing, "ab", 2);
          suspend();
          ::write(pipe.writing, "cd", 2);
        });
      });
      std::array<char, 5> buffer{};
      EXPECT_EQ(told(::recv(pipe.reading, buffer.data(), 4, MSG_WAITALL)), (Told{4, 0}));
      EXPECT_STREQ(buffer.data(), "abcd");
      EXPECT_EQ(told(::recv(pipe.reading, buffer.data(), 4, MSG_DONTWAIT)), (Told{-1, EAGAIN}));
      await(writer);
    });
  });
}

TEST_P(Suspending, AServerAndAClientOfTheSystemTalk) {
  run([] {
    suspending([] {
      const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
      sockaddr_in address = loopback();
      ASSERT_EQ(::bind(listener, any(address), sizeof address), 0);
      ASSERT_EQ(::listen(listener, 4), 0);
      socklen_t size = sizeof address;
      ASSERT_EQ(::getsockname(listener, any(address), &size), 0);
      const auto server = spawn([&] {
        suspending([&] {
          const int accepted = ::accept(listener, nullptr, nullptr);
          EXPECT_EQ(read_some(accepted), "question");
          EXPECT_EQ(::send(accepted, "answer", 6, 0), 6);
          ::close(accepted);
        });
      });
      const int client = ::socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(told(::connect(client, any(address), sizeof address)), (Told{0, 0}));
      EXPECT_EQ(told(::connect(client, any(address), sizeof address)), (Told{-1, EISCONN}));
      EXPECT_EQ(::send(client, "question", 8, 0), 8);
      EXPECT_EQ(read_some(client), "answer");
      EXPECT_EQ(read_some(client), "");
      await(server);
      ::close(client);
      ::close(listener);
    });
  });
}

TEST_P(Suspending, AConnectionToNobodyIsRefused) {
  run([] {
    suspending([] {
      sockaddr_in address = loopback();
      const int nobody = ::socket(AF_INET, SOCK_STREAM, 0);
      ASSERT_EQ(::bind(nobody, any(address), sizeof address), 0);
      socklen_t size = sizeof address;
      ASSERT_EQ(::getsockname(nobody, any(address), &size), 0);
      const int client = ::socket(AF_INET, SOCK_STREAM, 0);
      EXPECT_EQ(told(::connect(client, any(address), sizeof address)), (Told{-1, ECONNREFUSED}));
      ::close(client);
      ::close(nobody);
    });
  });
}

TEST_P(Suspending, NamesAreLookedUpElsewhere) {
  run([] {
    suspending([] {
      addrinfo hints = {};
      hints.ai_family = AF_INET;
      hints.ai_socktype = SOCK_STREAM;
      addrinfo* list = nullptr;
      ASSERT_EQ(::getaddrinfo("127.0.0.1", "80", &hints, &list), 0);
      ASSERT_NE(list, nullptr);
      EXPECT_EQ(list->ai_next, nullptr);
      const auto& found = reinterpret_cast<const sockaddr_in&>(*list->ai_addr);
      EXPECT_EQ(found.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
      EXPECT_EQ(found.sin_port, htons(80));
      std::array<char, 64> host{};
      EXPECT_EQ(::getnameinfo(list->ai_addr, list->ai_addrlen, host.data(), host.size(), nullptr, 0,
                              NI_NUMERICHOST),
                0);
      EXPECT_STREQ(host.data(), "127.0.0.1");
      ::freeaddrinfo(list);
      EXPECT_EQ(::getaddrinfo("127.0.0.1", "no such service", &hints, &list), EAI_SERVICE);
    });
  });
}

// What a coroutine does outside of a scope blocks the thread: these are made by the fixture.
TEST_P(Suspending, DescriptorsMadeOutsideAreWaitedForAndNotChanged) {
  for (const bool is_socket : {false, true}) {
    const Pipe pipe(is_socket);
    const int flags = ::fcntl(pipe.reading, F_GETFL);
    run([&] {
      const std::string sent(1 << 20, 'x');
      const auto writer = spawn([&] {
        suspending([&] {
          EXPECT_EQ(told(::write(pipe.writing, sent.data(), sent.size())), (Told{1 << 20, 0}));
        });
      });
      suspending([&] {
        std::size_t received = 0;
        while (received < sent.size()) received += read_some(pipe.reading).size();
        EXPECT_EQ(received, sent.size());
      });
      await(writer);
    });
    EXPECT_EQ(::fcntl(pipe.reading, F_GETFL), flags);
    EXPECT_EQ(::fcntl(pipe.writing, F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST_P(Suspending, ASocketMadeOutsideConnectsElsewhere) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = loopback();
  ASSERT_EQ(::bind(listener, any(address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 4), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(listener, any(address), &size), 0);
  run([&] {
    const auto server = spawn([&] {
      suspending([&] {
        const int accepted = ::accept(listener, nullptr, nullptr);
        EXPECT_EQ(::send(accepted, "hello", 5, 0), 5);
        ::close(accepted);
      });
    });
    suspending([&] {
      EXPECT_EQ(told(::connect(client, any(address), sizeof address)), (Told{0, 0}));
      EXPECT_EQ(read_some(client), "hello");
    });
    await(server);
  });
  EXPECT_EQ(::fcntl(client, F_GETFL) & O_NONBLOCK, 0);
  ::close(client);
  ::close(listener);
}

}  // namespace
}  // namespace fermata
