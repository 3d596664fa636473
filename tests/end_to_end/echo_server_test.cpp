// SPDX-License-Identifier: Apache-2.0

// The echo example as its users meet it: a process on real sockets.

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/splitmix.hpp"

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 10s;

/// Waits until `holds`, in vain at most for kPatience.
template <class Condition>
bool eventually(Condition holds) {
  const auto end = Clock::now() + kPatience;
  while (!holds()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(5ms);
  }
  return true;
}

/// The server's process, with its output.
class EchoServer {
 public:
  EchoServer() {
    std::array<int, 2> output{};
    EXPECT_EQ(pipe2(output.data(), O_CLOEXEC), 0);
    process_ = fork();
    if (process_ == 0) {
      dup2(output[1], STDOUT_FILENO);
      dup2(output[1], STDERR_FILENO);
      const char* program = FERMATA_BINARY_DIR "/examples/echo/example_echo";
      execl(program, program, "0", nullptr);
      _exit(127);
    }
    ::close(output[1]);
    output_ = output[0];
    const std::string line = read_until("\n");
    port_ = static_cast<std::uint16_t>(std::atoi(line.substr(line.rfind(':') + 1).c_str()));
    EXPECT_NE(port_, 0) << line;
  }
  ~EchoServer() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    ::close(output_);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void signal(int signum) const { kill(process_, signum); }

  [[nodiscard]] std::size_t open_descriptors() const {
    std::size_t count = 0;
    DIR* folder = opendir(("/proc/" + std::to_string(process_) + "/fd").c_str());
    while (folder != nullptr && readdir(folder) != nullptr) ++count;
    if (folder != nullptr) closedir(folder);
    return count;
  }

  /// The code it exits with; -1 when it does not.
  int exit_code() {
    int status = 0;
    const bool ended = eventually([&] { return waitpid(process_, &status, WNOHANG) == process_; });
    if (!ended) return -1;
    process_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  std::string read_until(const std::string& end) const {
    std::string text;
    char byte = 0;
    while (text.find(end) == std::string::npos && ::read(output_, &byte, 1) == 1) text += byte;
    return text;
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
  std::uint16_t port_ = 0;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{10, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Client(Client&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Client& operator=(Client&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Client() { hang_up(); }

  void send(const std::string& text) const {
    (void)::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  [[nodiscard]] std::string receive(std::size_t size) const {
    std::string text(size, '\0');
    const ssize_t got = ::recv(descriptor_, text.data(), size, MSG_WAITALL);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text;
  }
  void end_writing() const { ::shutdown(descriptor_, SHUT_WR); }
  void hang_up() {
    if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  }
  void reset() {
    const linger at_once{1, 0};
    setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    hang_up();
  }

 private:
  int descriptor_;
};

TEST(EchoServer, ServesNc) {
  EchoServer server;
  const std::string command = "printf 'hello\nworld\n' | timeout 10 nc -N 127.0.0.1 " +
                              std::to_string(server.port()) + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 256> text{};
  const std::size_t size = fread(text.data(), 1, text.size(), pipe);
  const int status = pclose(pipe);
  const std::string output(text.data(), size);
  if (output.find("not found") != std::string::npos) GTEST_SKIP() << "nc is not installed";
  EXPECT_EQ(output, "hello\nworld\n");
  EXPECT_EQ(status, 0);
}

TEST(EchoServer, AThousandConnectionsCutAtRandomLeaveNothingBehind) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  EchoServer server;
  { Client(server.port()).send("warm up"); }
  ASSERT_TRUE(eventually([&] { return server.open_descriptors() > 0; }));
  std::this_thread::sleep_for(100ms);
  const std::size_t idle = server.open_descriptors();

  fermata::test::SplitMix random(20261121);
  std::vector<Client> clients;
  for (int i = 0; i < 1000; ++i) clients.emplace_back(server.port());
  ASSERT_TRUE(eventually([&] { return server.open_descriptors() == idle + clients.size(); }));
  while (!clients.empty()) {
    const std::size_t index = random.below(clients.size());
    Client& client = clients[index];
    const std::string text(1 + random.below(20'000), 'x');
    switch (random.below(5)) {
      case 0:
        client.send(text);
        continue;
      case 1:
        client.send(text);
        client.end_writing();
        break;
      case 2:
        client.send(text);
        client.reset();
        break;
      case 3:
        client.reset();
        break;
      default:
        break;
    }
    std::swap(clients[index], clients.back());
    clients.pop_back();
  }
  EXPECT_TRUE(eventually([&] { return server.open_descriptors() == idle; }))
      << server.open_descriptors() << " descriptors, " << idle << " before";
  server.signal(SIGUSR1);
  EXPECT_NE(server.read_until("coroutines").find("1 coroutines"), std::string::npos);

  const Client after(server.port());
  after.send("still there");
  EXPECT_EQ(after.receive(11), "still there");
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 128 + SIGTERM);
}

TEST(EchoServer, StopsUnderLoad) {
  EchoServer server;
  std::vector<Client> clients;
  for (int i = 0; i < 50; ++i) clients.emplace_back(server.port());
  const std::string text(100'000, 'x');
  for (int round = 0; round < 20; ++round) {
    for (const Client& client : clients) client.send(text);
    if (round == 10) server.signal(SIGINT);
  }
  EXPECT_EQ(server.exit_code(), 128 + SIGINT);
}

TEST(EchoServer, EchoesWhatTheClientSentBeforeItStoppedWriting) {
  EchoServer server;
  const Client client(server.port());
  const std::string text(50'000, 'y');
  client.send(text);
  client.end_writing();
  EXPECT_EQ(client.receive(text.size()), text);
  EXPECT_EQ(client.receive(1), "");
}

}  // namespace
