// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <optional>
#include <string>

#include "fermata/base/error.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/pipe.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/bytes.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/world_fixture.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::pattern;

constexpr int kRuns = 200;
const Address kServer("127.0.0.1", 7777);

/// What arrives until the stream ends or breaks.
std::string read_all(ByteStream& stream) {
  std::string all;
  std::string part(4096, '\0');
  try {
    while (const std::size_t size = stream.read(std::as_writable_bytes(std::span(part)))) {
      all.append(part, 0, size);
    }
  } catch (const InputOutputError&) {
  }
  return all;
}

/// Worlds of one node, in which only some faults strike.
class SendFileFaults : public test::OneWorldFixture {
 protected:
  void run(std::uint64_t seed, std::initializer_list<Fault> faults, std::function<void()> main) {
    FaultSet set = FaultSet::none();
    for (const Fault fault : faults) set.add(fault);
    OneWorldFixture::run(set, seed, std::move(main));
    for (const Fault fault : faults) struck_ += count(fault);
  }

  std::uint64_t struck_ = 0;
};

TEST_F(SendFileFaults, PartialTransfersChangeNothingOfWhatArrives) {
  FERMATA_CHECKS("IO-14", "IO-03");
  const std::string contents = pattern(150'000);
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(seed, {Fault::ShortRead, Fault::ShortWrite, Fault::Delay, Fault::SlowDisk}, [&] {
      fs::write_file("/sent", contents);
      auto [reader, writer] = open_pipe();
      auto sender = spawn("sender", [&writer = writer] {
        File file = File::open("/sent");
        writer.write("before");
        const std::uint64_t sent = writer.send_file(file, 10);
        writer.write("behind");
        writer.close();
        return sent;
      });
      const bool same = read_all(reader) == "before" + contents.substr(10) + "behind";
      EXPECT_TRUE(same);
      EXPECT_EQ(await(sender), contents.size() - 10);
    });
  }
  EXPECT_GT(struck_, 0u);
}

TEST_F(SendFileFaults, ADiskThatFailsTellsHowMuchWent) {
  FERMATA_CHECKS("IO-14");
  const std::string contents = pattern(300'000);
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(seed, {Fault::DiskError}, [&] {
      try {
        fs::write_file("/sent", contents);
      } catch (const InputOutputError&) {
        return;
      }
      auto [reader, writer] = open_pipe();
      auto sender = spawn("sender", [&, &writer = writer] {
        File file = File::open("/sent");
        std::uint64_t sent = 0;
        try {
          sent = writer.send_file(file);
        } catch (const SendFileError& error) {
          EXPECT_EQ(error.code(), EIO);
          sent = error.sent();
          ++failures;
        }
        writer.write("the stream goes on");
        writer.close();
        return sent;
      });
      const std::string heard = read_all(reader);
      const std::uint64_t sent = await(sender);
      const bool same = heard == contents.substr(0, sent) + "the stream goes on";
      EXPECT_TRUE(same);
    });
  }
  EXPECT_GT(failures, 0);
}

TEST_F(SendFileFaults, WhatWasSentIsAPrefixWhateverHappens) {
  FERMATA_CHECKS("IO-14", "IO-02");
  const std::string contents = pattern(200'000);
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(seed, {Fault::Reset, Fault::ShortWrite, Fault::ShortRead, Fault::DiskError}, [&] {
      try {
        fs::write_file("/sent", contents);
        auto listener = TcpListener::bind(kServer);
        auto client = TcpStream::connect(kServer);
        auto peer = listener.accept();
        auto sender = spawn("sender", [&] {
          File file = File::open("/sent");
          try {
            return client.send_file(file, 0, contents.size(), {.timeout = 1ms});
          } catch (const Timeout&) {
          } catch (const InputOutputError&) {
          }
          client.close();
          return std::uint64_t{0};
        });
        auto reader = spawn("reader", [&] { return read_all(*peer); });
        const std::uint64_t sent = await(sender);
        client.close();
        const std::string heard = await(reader);
        const bool is_prefix = contents.starts_with(heard);
        EXPECT_TRUE(is_prefix);
        if (heard.size() == contents.size()) {
          EXPECT_TRUE(sent == 0 || sent == contents.size());
        }
      } catch (const InputOutputError&) {
      }
    });
  }
  EXPECT_GT(struck_, 0u);
}

// --- descriptors ---

TEST_F(SendFileFaults, AShortageOfDescriptorsFailsWhatIsOpenedAndDelaysWhatIsAccepted) {
  FERMATA_CHECKS("LIS-01", "LIS-03");
  int opened = 0;
  int refused = 0;
  bool delayed = false;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    run(seed, {Fault::OutOfDescriptors}, [&] {
      const auto tried = [&](const char* text, const std::function<void()>& open) {
        try {
          open();
          ++opened;
        } catch (const InputOutputError& error) {
          EXPECT_EQ(error.code(), EMFILE);
          EXPECT_EQ(std::string(error.what()), std::string(text) + ": Too many open files");
          ++refused;
        }
      };
      tried("open /x", [] { (void)File::open("/x", OpenMode::writing()); });
      tried("open a pipe", [] { (void)open_pipe(); });
      auto listener = TcpListener::bind(kServer);
      tried("connect to 127.0.0.1:7777", [&] {
        const Instant before = current_runtime().reactor().now();
        auto client = TcpStream::connect(kServer);
        EXPECT_TRUE(listener.accept());
        const Duration waited = current_runtime().reactor().now() - before;
        delayed = delayed || waited >= backend::ListenerHandle::kRetryDelay;
      });
    });
  }
  EXPECT_GT(opened, 0);
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(delayed);
}

}  // namespace
}  // namespace fermata::sim
