// SPDX-License-Identifier: Apache-2.0

// Blocking calls of the C library in coroutines of real programs: they suspend the coroutine, and
// others run meanwhile, on the same thread.

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

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
#include "tests/support/error_of.hpp"

namespace fermata {
namespace {

using namespace std::chrono_literals;
using posix::suspending;
using test::error_of;
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
      std::array<int, 2> ends{};
      ASSERT_EQ(::pipe(ends.data()), 0);
      const auto writer =
          spawn([&] { suspending([&] { EXPECT_EQ(::write(ends[1], "ab", 2), 2); }); });
      std::array<char, 8> buffer{};
      EXPECT_EQ(::read(ends[0], buffer.data(), buffer.size()), 2);
      EXPECT_EQ(std::string_view(buffer.data()), "ab");
      ::close(ends[0]);
      ::close(ends[1]);
    });
  });
}

}  // namespace
}  // namespace fermata
