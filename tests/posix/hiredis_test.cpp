// SPDX-License-Identifier: Apache-2.0

// Debian's hiredis, unchanged, as a client of a server that is written on Fermata.

#include <hiredis/hiredis.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <fermata/core/assertions.hpp>
#include <fermata/io/tcp.hpp>
#include <fermata/sim.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace std::chrono_literals;
using fermata::Address;
using fermata::TcpListener;
using fermata::TcpStream;

constexpr int kPort = 6379;

/// One command in the protocol's arrays of strings, and what is left behind it.
class Parser {
 public:
  void feed(std::string_view bytes) { text_ += bytes; }
  /// False when it is not all there yet.
  bool take(std::vector<std::string>& command) {
    std::size_t at = 0;
    std::size_t count = 0;
    if (!number('*', at, count)) return false;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t size = 0;
      if (!number('$', at, size) || text_.size() < at + size + 2) return false;
      parts.push_back(text_.substr(at, size));
      at += size + 2;
    }
    text_.erase(0, at);
    command = std::move(parts);
    return true;
  }

 private:
  bool number(char mark, std::size_t& at, std::size_t& value) {
    const std::size_t end = text_.find("\r\n", at);
    if (end == std::string::npos || text_[at] != mark) return false;
    value = std::stoul(text_.substr(at + 1, end - at - 1));
    at = end + 2;
    return true;
  }

  std::string text_;
};

/// A server with the commands SET, GET and INCR.
class Store {
 public:
  std::string answer(const std::vector<std::string>& command) {
    if (command[0] == "SET") {
      values_[command[1]] = command[2];
      return "+OK\r\n";
    }
    if (command[0] == "INCR") {
      std::string& value = values_[command[1]];
      value = std::to_string((value.empty() ? 0 : std::stol(value)) + 1);
      return ":" + value + "\r\n";
    }
    if (command[0] == "GET") {
      const auto found = values_.find(command[1]);
      if (found == values_.end()) return "$-1\r\n";
      return "$" + std::to_string(found->second.size()) + "\r\n" + found->second + "\r\n";
    }
    return "-ERR unknown command\r\n";
  }
  std::string& operator[](const std::string& key) { return values_[key]; }

 private:
  std::map<std::string, std::string> values_;
};

void serve(const std::shared_ptr<Store>& store) {
  TcpListener listener = TcpListener::bind(Address::v4(0, kPort));
  while (std::optional<TcpStream> accepted = listener.accept()) {
    fermata::spawn([store, stream = std::make_shared<TcpStream>(std::move(*accepted))] {
      try {
        Parser parser;
        std::vector<std::byte> buffer(4096);
        while (const std::size_t size = stream->read(buffer)) {
          parser.feed({reinterpret_cast<const char*>(buffer.data()), size});
          std::vector<std::string> command;
          while (parser.take(command)) {
            const std::string answer = store->answer(command);
            stream->write(answer);
          }
        }
      } catch (const fermata::InputOutputError&) {
      }
    });
  }
}

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Context = std::unique_ptr<redisContext, Free>;
using Reply = std::unique_ptr<redisReply, Free>;

Reply command(const Context& context, const char* format, const std::string& argument) {
  return Reply(static_cast<redisReply*>(redisCommand(context.get(), format, argument.c_str())));
}

Context connected() {
  timeval patience = {.tv_sec = 2, .tv_usec = 0};
  Context context(redisConnectWithTimeout("store", kPort, patience));
  if (context != nullptr && context->err == 0) redisSetTimeout(context.get(), patience);
  return context;
}

SIM_TEST(Hiredis, SetsAndGets) {
  const auto store = std::make_shared<Store>();
  world.service("store", [store] { serve(store); });
  world.node("client", [] {
    const Context context = connected();
    ASSERT_NE(context, nullptr);
    if (context->err != 0) return;  // A fault: it cannot connect.
    const Reply set = command(context, "SET k %s", "v");
    if (set == nullptr) return;
    EXPECT_STREQ(set->str, "OK");
    const Reply got = command(context, "GET k%s", "");
    if (got == nullptr) return;
    EXPECT_STREQ(got->str, "v");
  });
  world.run();
}

/// Sends numbers one after the other, many in one go, and connects again whenever something has
/// gone wrong. It begins again with the first that was not answered.
class Sender {
 public:
  static constexpr int kNumbers = 12;
  static constexpr int kPipelined = 4;

  /// With `careless`, an answer that did not come counts as one: the planted bug.
  explicit Sender(bool careless) : careless_(careless) {}

  void run() {
    while (answered_ < kNumbers) {
      const Context context = connected();
      if (context == nullptr || context->err != 0) {
        ::usleep(100'000);
        continue;
      }
      while (answered_ < kNumbers && send_some(context)) {
      }
    }
  }
  [[nodiscard]] int answered() const { return answered_; }

 private:
  bool send_some(const Context& context) {
    const int end = std::min(answered_ + kPipelined, kNumbers);
    for (int i = answered_; i < end; ++i) {
      redisAppendCommand(context.get(), "SET %d %s", i, text_of(i).c_str());
    }
    for (int i = answered_; i < end; ++i) {
      void* reply = nullptr;
      const bool failed = redisGetReply(context.get(), &reply) != REDIS_OK;
      const Reply owned(static_cast<redisReply*>(reply));
      if (failed && !careless_) return false;
      ++answered_;
    }
    return true;
  }

 public:
  static std::string text_of(int number) {
    return std::string(static_cast<std::size_t>(100 + 700 * number),
                       static_cast<char>('a' + number));
  }

 private:
  bool careless_;
  int answered_ = 0;
};

struct Setting {
  bool careless = false;
  bool crashes = false;  // The client does, in the middle of any call; what it was told it keeps.
};

/// What was answered is in the store, byte for byte, whatever the network and the machines do.
void nothing_is_lost(fermata::sim::World& world, const Setting& setting) {
  const auto store = std::make_shared<Store>();
  const auto sender = std::make_shared<Sender>(setting.careless);
  world.service("store", [store] { serve(store); });
  fermata::sim::Node& client = world.node("client", [=] { sender->run(); });
  if (setting.crashes) client.may_crash();
  world.at(20s, [&] { world.heal(); });
  world.run();
  ASSERT_EQ(sender->answered(), Sender::kNumbers);
  for (int i = 0; i < Sender::kNumbers; ++i) {
    EXPECT_EQ((*store)[std::to_string(i)], Sender::text_of(i)) << "number " << i << " is lost";
  }
}

SIM_TEST(Hiredis, LosesNothingThatWasAnswered) { nothing_is_lost(world, {}); }

SIM_TEST(Hiredis, LosesNothingWhenTheClientCrashes) { nothing_is_lost(world, {.crashes = true}); }

// A coroutine is cancelled, or its call is out of time, at each call of the library that waits.
SIM_TEST(Hiredis, EndsWhereverItIsInterrupted) {
  const auto store = std::make_shared<Store>();
  world.service("store", [store] { serve(store); });
  world.node("client", [&world] {
    const auto program = [] {
      const Context context = connected();
      if (context == nullptr || context->err != 0) return;
      for (const char* value : {"a", "b"}) {
        if (command(context, "SET k %s", value) == nullptr) return;
      }
      static_cast<void>(command(context, "GET k%s", ""));
    };
    const fermata::sim::SweepCounts counts = world.sweep_cancellation(program);
    FERMATA_SOMETIMES_GE(counts.cancellations, 4u, "each of the calls is interrupted");
  });
  world.run();
}

// Finds: number . is lost
SIM_TEST(Hiredis, DISABLED_IgnoresAnError) { nothing_is_lost(world, {.careless = true}); }

}  // namespace
