// SPDX-License-Identifier: Apache-2.0

// What reports say of each kind of draw that the simulator makes: for each a small world in which
// its answer is not calm, and the sentence that comes of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "fermata/base/error.hpp"
#include "fermata/core/fault_point.hpp"
#include "fermata/core/spawn.hpp"
#include "fermata/io/descriptor.hpp"
#include "fermata/io/dns.hpp"
#include "fermata/io/file.hpp"
#include "fermata/io/file_system.hpp"
#include "fermata/io/file_watcher.hpp"
#include "fermata/io/offload.hpp"
#include "fermata/io/process.hpp"
#include "fermata/io/tcp.hpp"
#include "fermata/io/thread.hpp"
#include "fermata/io/udp.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/run/runner.hpp"
#include "fermata/sync/await.hpp"
#include "tests/support/bytes.hpp"

namespace fermata::sim {
namespace {

using namespace std::chrono_literals;
using test::bytes_of;

using Body = std::function<void(World&)>;

struct Case {
  const char* name;
  std::optional<Fault> fault;  // The only one that may strike; none: what is drawn without faults.
  Body body;
  /// Patterns of whole sentences, each of which some run has.
  std::vector<const char*> sentences;
};

// --- the worlds ---

void tolerate(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error&) {
  }
}

void serve() {
  tolerate([] {
    TcpListener listener = TcpListener::bind({"0.0.0.0", 80});
    auto peer = listener.accept();
    std::array<std::byte, 64> buffer;
    while (peer->read(buffer) > 0) peer->write(bytes_of("welcome"));
  });
}

void greet_with(World& world, const Latency& latency) {
  world.node("server", serve);
  world.link("main", "server").latency(latency);
  delay(1ms);
  tolerate([&] {
    TcpStream stream = TcpStream::connect(world.node("server").address(80));
    stream.write(bytes_of("hello"));
    std::array<std::byte, 64> buffer;
    stream.read(buffer);
    stream.close();
  });
  world.run();
}

void greet(World& world) { greet_with(world, Latency::fixed(250us)); }

void greet_from_afar(World& world) { greet_with(world, Latency::uniform(1ms, 9ms)); }

void send_two_notes_at_once(World& world) {
  const auto bind = [] {
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 53});
    delay(1s);
  };
  world.node("server", bind);
  for (const char* name : {"one", "two"}) {
    world.node(name, [&world] {
      UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
      delay(1ms);
      socket.send_to(bytes_of("note"), world.node("server").address(53));
    });
  }
  world.run();
}

void send_notes(World& world) {
  world.node("server", [] {
    UdpSocket socket = UdpSocket::bind({"0.0.0.0", 53});
    delay(1s);
  });
  UdpSocket socket = UdpSocket::bind({"0.0.0.0", 1234});
  for (int i = 0; i < 3; ++i) socket.send_to(bytes_of("note"), world.node("server").address(53));
  socket.close();
  world.run();
}

void look_up(World& world) {
  world.node("server", [] {});
  tolerate([] { static_cast<void>(resolve("server", "80")); });
  world.run();
}

void keep_notes(World&) {
  tolerate([] {
    File file = File::open("notes", OpenMode::updating());
    file.write("some text");
    file.sync();
    std::array<std::byte, 64> buffer;
    file.read_at(0, buffer);
    file.close();
    fs::rename("notes", "old");
  });
}

void cancel_a_write(World&) {
  tolerate([] {
    File file = File::open("notes", OpenMode::writing());
    auto writer = spawn("writer", [&] { file.write("some text"); });
    suspend();
    writer.cancel();
    delay(1ms);
  });
}

void save_settings(World& world) {
  world
      .node("desk",
            [] {
              tolerate([] {
                fs::write_file("settings.new", "dark=1");
                fs::rename("settings.new", "settings");
                delay(1s);
              });
            })
      .may_crash();
  world.run();
}

void watch(World&) {
  tolerate([] {
    FileWatcher watcher("/", {});
    fs::write_file("log", "text");
    delay(1s);
  });
}

void run_a_process(World& world) {
  world.program("echo", ScriptedProgram().takes(20ms).exits(0));
  tolerate([] {
    Process process = Process::spawn({.program = "echo", .output = Stdio::Pipe});
    process.wait();
  });
  tolerate([] {
    Process process = Process::spawn({.program = "echo"});
    delay(1ms);
    process.kill();
    process.wait();
  });
}

void use_a_shared_folder(World& world) {
  world.share_folder("/plan");
  tolerate([] { fs::make_directory("/plan/box"); });
  for (int i = 0; i < 5; ++i) tolerate([] { static_cast<void>(fs::list_directory("/plan")); });
}

void use_descriptors(World&) {
  const DescriptorPair pair = descriptor_calls().open_pair();
  {
    Descriptor watched(pair.first);
    std::array<std::byte, 64> buffer;
    tolerate([&] {
      auto writer = spawn("writer", [&] {
        for (int i = 0; i < 5; ++i) {
          delay(1ms);
          descriptor_calls().write(pair.second, bytes_of("hello"));
        }
      });
      for (int i = 0; i < 5; ++i) {
        watched.wait_readable();
        descriptor_calls().read(pair.first, buffer);
      }
    });
  }
  descriptor_calls().close(pair.first);
  descriptor_calls().close(pair.second);
}

void use_threads(World&) {
  auto thread = spawn_thread([] {
    for (int i = 0; i < 3; ++i) fs::write_file("a", "b");
  });
  auto other = spawn_thread([] {
    for (int i = 0; i < 3; ++i) fs::write_file("c", "d");
  });
  await(thread);
  await(other);
}

void sleep_a_bit(World&) { delay(1ms); }

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"delay",
       Fault::Delay,
       greet,
       {R"(the (connect|1st message) main -> server is delayed by .*)"}},
      {"short read",
       Fault::ShortRead,
       greet,
       {"a read of 'server' gives [1-4] of 5 bytes, "
        "on the 1st connection main -> server, port 80"}},
      {"short write",
       Fault::ShortWrite,
       greet,
       {"a write of 'main' takes [1-4] of 5 bytes, on the 1st connection main -> server, port 80",
        "a write of 'main' has to wait, on the 1st connection main -> server, port 80"}},
      {"datagram that waits",
       Fault::ShortWrite,
       send_notes,
       {"a datagram that 'main' sends from port 1234 has to wait for room"}},
      {"reset", Fault::Reset, greet, {"the 1st connection main -> server, port 80 is reset"}},
      {"refused", Fault::Refused, greet, {"the 1st connection main -> server, port 80 is refused"}},
      {"hung",
       Fault::Hung,
       greet,
       {"the 1st connection main -> server, port 80 is asked for and gets no answer"}},
      {"timer late", Fault::TimerLate, sleep_a_bit, {"the next timers of 'main' fire .* late"}},
      {"slow close",
       Fault::SlowClose,
       greet,
       {"the close of the 1st connection main -> server, port 80 on 'main' takes .* longer",
        "the close of a listener on 'server' takes .* longer"}},
      {"slow disk", Fault::SlowDisk, keep_notes, {"the write to 'notes' takes .* longer"}},
      {"disk full",
       Fault::DiskFull,
       keep_notes,
       {"the open of 'notes' finds the disk full", "the write to 'notes' finds the disk full"}},
      {"disk error",
       Fault::DiskError,
       keep_notes,
       {"the write to 'notes' fails with EIO", "the sync of 'notes' fails with EIO",
        "the sync of 'notes' fails with EIO, and its writes will never be synced"}},
      {"short file read",
       Fault::ShortRead,
       keep_notes,
       {"the read of 'notes' moves [1-8] of 9 bytes"}},
      {"dns failure",
       Fault::DnsFailure,
       look_up,
       {"the look-up of 'server' by 'main' gets no answer"}},
      {"dns delay",
       Fault::DnsDelay,
       look_up,
       {"the look-up of 'server' by 'main' takes .* longer"}},
      {"datagram loss",
       Fault::DatagramLoss,
       send_notes,
       {"the 2nd datagram main -> server is lost"}},
      {"datagram duplicate",
       Fault::DatagramDuplicate,
       send_notes,
       {"the 2nd datagram main -> server arrives once more, after another .*"}},
      {"datagram reorder",
       Fault::DatagramReorder,
       send_notes,
       {"the 2nd datagram main -> server can be overtaken: it is held up by .*"}},
      {"clog", Fault::Clog, send_notes, {"the link main -> server keeps all messages for .*"}},
      {"partition",
       Fault::Partition,
       send_notes,
       {"'main' is cut off from all other machines for .*",
        "'main' and 'server' cannot reach each other for .*",
        "nothing gets through main -> server for .*"}},
      {"crash",
       Fault::Crash,
       save_settings,
       {R"('desk' crashes at \+.* ms, after the write to 'settings.new' and before its sync)",
        R"('desk' crashes at \+.* ms, after the rename 'settings.new' -> 'settings')"
        " and before the sync of its directory",
        "'desk' would crash at its [0-9]+(st|nd|rd|th) wait",
        "the crash of 'desk' comes .* after its wait begins",
        "nobody is told when 'desk' crashes: its connections stay silent",
        "'desk' comes up again .* after its crash",
        "the rename 'settings.new' -> 'settings' on 'desk' is lost",
        "the new file 'settings.new' on 'desk' is lost",
        "the write of 6 bytes to 'settings(.new)?' on 'desk' is lost",
        "the write of 6 bytes to 'settings(.new)?' on 'desk' is torn and keeps [1-5] of 6 bytes"}},
      {"pause",
       Fault::Pause,
       [](World& world) {
         world.node("desk", [] { delay(1s); }).may_pause();
         world.run();
       },
       {"'desk' gets no processor time for .*"}},
      {"clock",
       Fault::Clock,
       sleep_a_bit,
       {"the clock of 'main' is .* ahead and .* parts in a million too fast",
        "the clock of 'main' is .* behind and .* parts in a million too slow"}},
      {"point",
       Fault::Point,
       [](World&) { static_cast<void>(FERMATA_FAULT("payment declined")); },
       {"the fault 'payment declined' of the program strikes"}},
      {"watch delay", Fault::WatchDelay, watch, {"a file watch's news of 'log' comes .* late"}},
      {"watch overflow", Fault::WatchOverflow, watch, {"a file watch's news of 'log' is lost"}},
      {"out of descriptors",
       Fault::OutOfDescriptors,
       greet,
       {"'main' has no descriptor left for another connection"}},
      {"spawn failure",
       Fault::SpawnFailure,
       run_a_process,
       {"'main' has no room for process 'echo'"}},
      {"slow exit",
       Fault::SlowExit,
       run_a_process,
       {"the end of process 'echo' is noticed .* late"}},
      {"interrupted",
       Fault::Interrupted,
       use_descriptors,
       {"a read of descriptor [0-9]+ of 'main' is interrupted",
        "a wait of 'main' for descriptors is interrupted after .*"}},
      {"descriptor read in part",
       Fault::ShortRead,
       use_descriptors,
       {"a read of descriptor [0-9]+ of 'main' gives [1-4] of 5 bytes"}},
      {"descriptor reset", Fault::Reset, use_descriptors, {"descriptor [0-9]+ of 'main' is reset"}},
      {"descriptor write in part",
       Fault::ShortWrite,
       use_descriptors,
       {"a write to descriptor [0-9]+ of 'main' takes [1-4] of 5 bytes",
        "a write to descriptor [0-9]+ of 'main' has to wait"}},
      {"spurious readiness",
       Fault::SpuriousReadiness,
       use_descriptors,
       {"'main' is told that descriptor [0-9]+ is ready, true or not, after .*"}},
      {"busy", Fault::Busy, sleep_a_bit, {"a step of 'main' takes .*"}},
      {"clock step",
       Fault::ClockStep,
       [](World& world) {
         world.node("desk", [] { delay(1s); }).may_step_clock();
         world.run();
       },
       {"the wall clock of 'desk' is set ahead by .*",
        "the wall clock of 'desk' is set back by .*"}},
      {"lost reply",
       Fault::LostReply,
       use_a_shared_folder,
       {"the answer to the making of directory '/plan/box' is lost, and the call made again"}},
      {"stale folder",
       Fault::StaleFolder,
       use_a_shared_folder,
       {"the listing of directory '/plan' shows what was there some time ago"}},
      // What is drawn without faults.
      {"pick",
       {},
       [](World&) {
         spawn("reader", [] { delay(1ms); });
         spawn("writer", [] { delay(1ms); });
         delay(2ms);
       },
       {"'writer' runs before 'reader'"}},
      {"random",
       {},
       [](World&) { static_cast<void>(random(6)); },
       {R"(random\(\) in 'main' gives [1-5] of 6 \(decision_sentences_test\.cpp:[0-9]+\))"}},
      {"random without bound",
       {},
       [](World&) { static_cast<void>(random_bits()); },
       {R"(random\(\) in 'main' gives [0-9]+ \(decision_sentences_test\.cpp:[0-9]+\))"}},
      {"latency",
       {},
       greet_from_afar,
       {"the 1st message main -> server takes [1-9](\\.[0-9]+)? ms"}},
      {"order at once",
       {},
       send_two_notes_at_once,
       {"of 2 things that come to 'server' at once the 2nd comes first"}},
      {"disk latency",
       {},
       keep_notes,
       {"the write to 'notes' takes .*", "the rename 'notes' -> 'old' takes .*"}},
      {"withdrawn", {}, cancel_a_write, {"the write to 'notes' is cancelled before it begins"}},
      {"watch", {}, watch, {"a file watch's news of 'log' comes after .*"}},
      {"offload",
       {},
       [](World&) { offload([] {}); },
       {"the 1st work that 'main' gives to its pool takes .*"}},
      {"threads",
       {},
       use_threads,
       {"thread 'main/thread' starts after .*", "'main' goes on before other threads",
        "other threads have (1 turn|[0-9]+ turns) before 'main.*' goes on"}},
      {"process",
       {},
       run_a_process,
       {"process 'echo' starts after .*", "process 'echo' ends, killed, after .*"}},
  };
  return all;
}

// --- what is said ---

/// The sentences of the decisions of many runs.
std::set<std::string> sentences_of(const Case& each) {
  constexpr std::uint64_t kSeeds = 150;
  FaultSet faults = FaultSet::none();
  if (each.fault) faults.add(*each.fault);
  Program program;
  program.body = each.body;
  Runner runner(program, "random", {.faults = faults});
  runner.set_recording(true);
  std::set<std::string> sentences;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    runner.run(seed);
    const Decisions& decisions = runner.decisions();
    for (const Decision& decision : decisions.log().recorded()) {
      if (goes_without_saying(decision, decisions.names().all())) continue;
      sentences.insert(describe(decision, decisions.names().all()));
    }
  }
  return sentences;
}

std::string list(const std::set<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += "  " + sentence + "\n";
  return text;
}

class DecisionSentences : public ::testing::TestWithParam<std::size_t> {};

TEST_P(DecisionSentences, NameTheThingTheAmountAndThePlace) {
  const Case& each = cases()[GetParam()];
  const std::set<std::string> sentences = sentences_of(each);
  for (const char* const wanted : each.sentences) {
    const std::regex pattern(wanted);
    bool found = false;
    for (const std::string& sentence : sentences) {
      found = found || std::regex_match(sentence, pattern);
    }
    EXPECT_TRUE(found) << "nobody says: " << wanted << "\n" << list(sentences);
  }
  for (const std::string& sentence : sentences) {
    EXPECT_FALSE(sentence.starts_with("a draw of")) << sentence;
    EXPECT_EQ(sentence.find("0x"), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find("below"), std::string::npos) << sentence;
  }
}

std::string name_of_case(const ::testing::TestParamInfo<std::size_t>& test) {
  std::string name = cases()[test.param].name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, DecisionSentences, ::testing::Range<std::size_t>(0, cases().size()),
                         name_of_case);

TEST(DecisionSentences, AreTriedForEachFaultThereIs) {
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    const auto fault = static_cast<Fault>(i);
    bool found = fault == Fault::ThreadCreationFailure;  // Of foreign code: see tests/posix.
    for (const Case& each : cases()) found = found || each.fault == fault;
    EXPECT_TRUE(found) << to_string(fault);
  }
}

TEST(DecisionSentences, LeaveOutThatFaultsAreAllowed) {
  Program program;
  program.body = greet;
  FaultSet faults = FaultSet::none();
  faults.add(Fault::Reset);
  Runner runner(program, "random", {.faults = faults});
  runner.set_recording(true);
  std::size_t unsaid = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    runner.run(seed);
    const Decisions& decisions = runner.decisions();
    for (const Decision& decision : decisions.log().recorded()) {
      if (!goes_without_saying(decision, decisions.names().all())) continue;
      EXPECT_EQ(decision.stream, backend::RandomStream::Fault);
      ++unsaid;
    }
  }
  EXPECT_GT(unsaid, 0u);
}

}  // namespace
}  // namespace fermata::sim
