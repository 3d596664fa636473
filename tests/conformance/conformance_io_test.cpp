// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/io.hpp"
#include "fermata/sync/await.hpp"
#include "tests/conformance/main_typed_test.hpp"
#include "tests/conformance/terminals.hpp"
#include "tests/conformance/transports.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/error_of.hpp"

namespace fermata::conformance {
namespace {

using namespace std::chrono_literals;
using test::error_of;

// Each kind: what is written to `writer` is read from `reader`, once carry() has been called.

template <class Arm>
struct PipeKind : Arm {
  using Typed = PipeStream;
  static constexpr IoType kType = IoType::Pipe;
  struct Ends {
    Ends() : Ends(open_pipe()) {}
    explicit Ends(PipeEnds ends) : reader(std::move(ends.reader)), writer(std::move(ends.writer)) {}
    void carry(const std::string&) {}
    Io reader;
    Io writer;
  };
};

template <class Arm>
struct TcpKind : Arm {
  using Typed = TcpStream;
  static constexpr IoType kType = IoType::Tcp;
  struct Ends {
    Connected<OverTcp> pair;
    Io reader{std::move(*pair.server)};
    Io writer{std::move(*pair.client)};
    void carry(const std::string&) {}
  };
};

template <class Arm>
struct UdpKind : Arm {
  using Typed = UdpSocket;
  static constexpr IoType kType = IoType::Udp;
  struct Ends {
    Ends() : Ends(UdpSocket::bind({"127.0.0.1", 0}), UdpSocket::bind({"127.0.0.1", 0})) {}
    Ends(UdpSocket here, UdpSocket there)
        : place(here.local_address()),
          peer(there.local_address()),
          reader(std::move(here), peer),
          writer(std::move(there), place) {}
    void carry(const std::string&) {}
    Address place;
    Address peer;
    Io reader;
    Io writer;
  };
};

template <class Arm>
struct FileKind : Arm {
  using Typed = File;
  static constexpr IoType kType = IoType::File;
  struct Ends {
    static constexpr bool kReal = Arm::kReal;
    std::string path = kReal ? OverPipe::fresh_path() : "/file";
    Io writer{File::open(path, OpenMode::appending())};
    Io reader{File::open(path)};
    ~Ends() {
      if (kReal) std::filesystem::remove(path);
    }
    void carry(const std::string&) {}
  };
};

template <class Arm>
struct TtyKind : Arm {
  using Typed = TtyStream;
  static constexpr IoType kType = IoType::Tty;
  struct Ends {
    User<Arm> user;
    Io writer{TtyStream::error()};
    Io reader{TtyStream::input()};
    void carry(const std::string& text) {
      EXPECT_EQ(seen_by(user, text), text);
      user.type(text + "\n");
    }
  };
};

using Kinds = ::testing::Types<PipeKind<UvArm>, PipeKind<SimArm>, FileKind<UvArm>, FileKind<SimArm>,
                               TcpKind<UvArm>, TcpKind<SimArm>, UdpKind<UvArm>, UdpKind<SimArm>,
                               TtyKind<UvArm>, TtyKind<SimArm>>;

template <class Kind>
class AnyIo : public ::testing::Test {};
TYPED_TEST_SUITE(AnyIo, Kinds);

std::string read_exactly(Io& io, std::size_t size) {
  std::string text(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const std::size_t more = io.read(std::as_writable_bytes(std::span(text).subspan(done)));
    if (more == 0) break;
    done += more;
  }
  text.resize(done);
  return text;
}

MAIN_TYPED_TEST(AnyIo, ReadsAndWritesWhateverItIs) {
  FERMATA_CHECKS("IO-02");
  typename TypeParam::Ends ends;
  EXPECT_EQ(ends.reader.type(), TypeParam::kType);
  EXPECT_EQ(ends.writer.type(), TypeParam::kType);
  EXPECT_TRUE(ends.reader.state().open);
  EXPECT_TRUE(ends.reader.state().readable);
  EXPECT_TRUE(ends.writer.state().writable);
  ends.writer.write("hello");
  ends.carry("hello");
  EXPECT_EQ(read_exactly(ends.reader, 5), "hello");
}

MAIN_TYPED_TEST(AnyIo, IsUsedAsWhatItIs) {
  typename TypeParam::Ends ends;
  using Typed = typename TypeParam::Typed;
  ASSERT_NE(ends.reader.template as<Typed>(), nullptr);
  EXPECT_EQ(&ends.reader.template as<Typed>()->handle(), &ends.reader.handle());
  const int kinds = (ends.reader.template as<PipeStream>() != nullptr) +
                    (ends.reader.template as<File>() != nullptr) +
                    (ends.reader.template as<TcpStream>() != nullptr) +
                    (ends.reader.template as<TtyStream>() != nullptr) +
                    (ends.reader.template as<UdpSocket>() != nullptr);
  EXPECT_EQ(kinds, 1);
}

MAIN_TYPED_TEST(AnyIo, ClosesOnceAndForAll) {
  FERMATA_CHECKS("IO-06");
  typename TypeParam::Ends ends;
  ends.reader.close();
  ends.reader.close();
  ends.writer.close();
  EXPECT_FALSE(ends.reader.state().open);
  EXPECT_FALSE(ends.reader.state().readable);
  EXPECT_FALSE(ends.writer.state().writable);
  EXPECT_EQ(ends.reader.type(), TypeParam::kType);
  EXPECT_EQ(error_of([&] { read_exactly(ends.reader, 1); }), "Cannot read from closed IO handle");
  EXPECT_EQ(error_of([&] { ends.writer.write("x"); }), "Cannot write to closed IO handle");
}

MAIN_TYPED_TEST(AnyIo, MovesAndThenIsNothing) {
  typename TypeParam::Ends ends;
  Io moved = std::move(ends.writer);
  moved.write("hello");
  ends.carry("hello");
  EXPECT_EQ(read_exactly(ends.reader, 5), "hello");
  // NOLINTNEXTLINE(bugprone-use-after-move): that is what is tested.
  EXPECT_EQ(error_of([&] { ends.writer.write("x"); }),
            "handle: an empty value: expected one that was opened, and not moved from");
  ends.writer = std::move(moved);
  EXPECT_TRUE(ends.writer.state().writable);
}

template <class Arm>
class IoStates : public ::testing::Test {};
TYPED_TEST_SUITE(IoStates, Arms);

MAIN_TYPED_TEST(IoStates, FollowWhatHappens) {
  typename TcpKind<TypeParam>::Ends tcp;
  EXPECT_EQ(tcp.reader.state(), (IoState{true, true, true, false, false}));
  tcp.writer.close();
  EXPECT_EQ(read_exactly(tcp.reader, 1), "");
  EXPECT_EQ(tcp.reader.state(), (IoState{true, true, true, true, false}));
  typename FileKind<TypeParam>::Ends file;
  EXPECT_EQ(file.writer.state(), (IoState{true, false, true, false, true}));
  EXPECT_EQ(file.reader.state(), (IoState{true, true, false, false, false}));
  typename PipeKind<TypeParam>::Ends pipe;
  EXPECT_EQ(pipe.reader.state(), (IoState{true, true, false, false, false}));
}

MAIN_TYPED_TEST(IoStates, ASocketHearsItsPeerAlone) {
  FERMATA_CHECKS("IO-13");
  typename UdpKind<TypeParam>::Ends ends;
  UdpSocket stranger = UdpSocket::bind({"127.0.0.1", 0});
  stranger.send_to("noise", ends.place);
  ends.writer.write("");
  ends.writer.write("signal");
  std::string text(100, '\0');
  const auto bytes = std::as_writable_bytes(std::span(text));
  EXPECT_EQ(ends.reader.read(bytes), 0u);
  EXPECT_EQ(ends.reader.read(bytes), 6u);
  EXPECT_THROW((void)ends.reader.read(bytes, {.timeout = 5ms}), Timeout);
  EXPECT_EQ(error_of([] {
              (void)Io(UdpSocket::bind({"127.0.0.1", 0}), Address("127.0.0.1", 0));
            }),
            "peer 127.0.0.1:0: port 0: expected 1 to 65535");
}

}  // namespace
}  // namespace fermata::conformance
