// SPDX-License-Identifier: Apache-2.0

// Workers that share a plan, on machines that crash and pause, in a folder whose server loses
// answers, shows what was, and crashes: each chunk has its result once, and no finding is lost.

#include <fermata/runtime.hpp>
#include <fermata/sim.hpp>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fermata/io/file_system.hpp"
#include "fermata/sim/fleet/patience.hpp"
#include "fermata/sim/fleet/worker.hpp"

namespace {

using namespace std::chrono_literals;
using namespace fermata;
using sim::World;
using sim::fleet::ChunkId;
using sim::fleet::Lease;
using sim::fleet::Leases;
using sim::fleet::patiently;
using sim::fleet::PlanFolder;
using sim::fleet::Publisher;
using sim::fleet::Results;
using sim::fleet::Worker;
using sim::fleet::WorkerOptions;
using sim::fleet::Workload;

constexpr std::size_t kChunks = 5;
constexpr std::size_t kGrown = 2;
/// The number of the first chunk that grows; those of the plan are counted from 0.
constexpr std::size_t kFirstGrown = 500;
/// A plan that ends by time: its chunks take three seconds, most of the time.
constexpr std::size_t kManyChunks = 100;
constexpr Duration kTime = 10s;
constexpr Duration kLease = 10s;
/// For so long things go wrong; then there is nothing to wait for but the work.
constexpr Duration kDisturbed = 40s;

ChunkId id_of(std::size_t number) { return {0x1111'1111'1111'1111 * (number + 1)}; }
std::string result_of(std::size_t number) {
  return fmt::format("the result of chunk {}\n", number);
}

/// What a plan is, for its workers.
struct Extent {
  std::size_t chunks = kChunks;
  std::optional<Duration> time = {};
};

/// Who works on which chunk, as the world knows it and no worker does.
class Ledger {
 public:
  explicit Ledger(World& world) : world_(world) {}

  /// Nobody begins what another does: that one has been silent for long, or is done.
  void begins(ChunkId chunk, const std::string& worker) {
    const auto known = signs_.find(chunk);
    if (known != signs_.end() && known->second.worker != worker) {
      const Duration silence = world_.now() - known->second.seen;
      EXPECT_GT(silence, 2s) << "two workers have the lease of one chunk";
    }
    goes_on(chunk, worker);
  }
  void goes_on(ChunkId chunk, const std::string& worker) {
    signs_.insert_or_assign(chunk, Sign{worker, world_.now()});
  }
  void ends(ChunkId chunk, const std::string& worker) {
    const auto known = signs_.find(chunk);
    if (known != signs_.end() && known->second.worker == worker) signs_.erase(known);
  }

 private:
  struct Sign {
    std::string worker;
    Instant seen;
  };
  World& world_;
  std::map<ChunkId, Sign> signs_;
};

/// Each chunk takes a while and leaves a finding; two more come when the first are done.
class Chunks final : public Workload {
  struct Entry {
    Ledger& ledger;
    ChunkId chunk;
    std::string worker;
    ~Entry() { ledger.ends(chunk, worker); }
  };

 public:
  Chunks(const PlanFolder& folder, Publisher& publisher, Ledger& ledger, std::size_t planned)
      : folder_(folder), publisher_(publisher), ledger_(ledger), planned_(planned) {}

  [[nodiscard]] std::size_t size() const override { return planned_ + grown_; }
  [[nodiscard]] ChunkId at(std::size_t index) const override { return id_of(number_of(index)); }
  void close(std::size_t count) override { planned_ = count; }
  bool grow() override {
    if (grown_ > 0) return false;
    grown_ = kGrown;
    return true;
  }
  std::optional<std::string> run(std::size_t index,
                                 fermata::detail::FunctionRef<void()> go_on) override {
    const std::size_t number = number_of(index);
    const Entry entry{ledger_, id_of(number), publisher_.writer()};
    ledger_.begins(id_of(number), publisher_.writer());
    for (std::uint64_t left = fermata::random(20); left > 0; --left) {
      delay(300ms);
      ledger_.goes_on(id_of(number), publisher_.writer());
      go_on();
    }
    const std::string finding = fmt::format("found in chunk {}", number);
    patiently([&] { publisher_.publish(folder_.findings(), fmt::format("{}", number), finding); });
    return result_of(number);
  }

 private:
  [[nodiscard]] std::size_t number_of(std::size_t index) const {
    return index < planned_ ? index : kFirstGrown + index - planned_;
  }

  const PlanFolder& folder_;
  Publisher& publisher_;
  Ledger& ledger_;
  std::size_t planned_;
  std::size_t grown_ = 0;
};

/// A worker until the plan is complete; `life` counts those of its machine.
void work(const std::string& machine, int life, Ledger& ledger, const Extent& extent) {
  const PlanFolder folder("/plan");
  const std::string name = fmt::format("{}-{}", machine, life);
  Publisher publisher(folder, name + ".files");
  Chunks chunks(folder, publisher, ledger, extent.chunks);
  Worker worker(folder, chunks, {.name = name, .lease = kLease, .time = extent.time});
  EXPECT_EQ(worker.run(), Worker::End::AllDone);
}

/// An engine starts workers again that have failed, of a full disk, say.
void again_and_again(const std::function<void()>& step) {
  while (true) {
    try {
      return patiently(step);
    } catch (const InputOutputError&) {
      delay(1s);
    }
  }
}

void make_plan() {
  again_and_again([] { PlanFolder("/plan").create(); });
  again_and_again([] { fs::write_file("/plan/ready", ""); });
  again_and_again([] { fs::sync_directory("/plan"); });
}

/// Adds a machine whose program works, again after each crash, from when the plan is there.
void add_worker(World& world, const std::string& name, const std::shared_ptr<Ledger>& ledger,
                const Extent& extent = {}) {
  const auto lives = std::make_shared<int>(0);
  world.node(name, [name, lives, ledger, extent] {
    while (!sim::fleet::exists("/plan/ready")) delay(100ms);
    again_and_again([&] { work(name, ++*lives, *ledger, extent); });
  });
}

/// Everything that was to be done of a plan of so many chunks is there. Returns how many results
/// there are.
std::size_t check_chunks(std::size_t planned) {
  const PlanFolder folder("/plan");
  Publisher publisher(folder, "checker");
  const Results results(folder, publisher);
  for (std::size_t i = 0; i < planned + kGrown; ++i) {
    const std::size_t number = i < planned ? i : kFirstGrown + i - planned;
    EXPECT_EQ(results.read(id_of(number)), result_of(number));
    EXPECT_EQ(fs::read_file(fmt::format("/plan/findings/{}", number)),
              fmt::format("found in chunk {}", number));
  }
  EXPECT_TRUE(fs::list_directory(folder.conflicts()).empty());
  return results.list().size();
}

void check_plan() {
  EXPECT_EQ(check_chunks(kChunks), kChunks + kGrown) << "a chunk has no result, or two";
}

/// Three machines work on a plan, and things go wrong at first.
void work_disturbed(World& world, const Extent& extent = {}) {
  world.share_folder("/plan");
  const auto ledger = std::make_shared<Ledger>(world);
  for (const char* name : {"ann", "bob", "cyd"}) add_worker(world, name, ledger, extent);
  world.nemesis({.machines = {"ann", "bob", "cyd"}, .until = kDisturbed});
  world.at(kDisturbed, [&] { world.heal(); });
  make_plan();
  world.run();
  world.heal();
  delay(5s);
}

SIM_TEST(Fleet, EachChunkHasOneResult) {
  work_disturbed(world);
  check_plan();
}

// Whoever comes when, all end with the same chunks, and those are done.
SIM_TEST(Fleet, ThePlansTimeEndsForAllWorkers) {
  work_disturbed(world, {kManyChunks, kTime});
  const auto count = sim::fleet::parse_end(fs::read_file("/plan/end"));
  ASSERT_TRUE(count.has_value());
  EXPECT_LT(*count, kManyChunks);
  EXPECT_GE(check_chunks(*count), *count + kGrown);
}

SIM_TEST(Fleet, AServerThatCrashesLosesNoResult) {
  world.share_folder("/plan");
  const auto ledger = std::make_shared<Ledger>(world);
  for (const char* name : {"ann", "bob", "cyd"}) add_worker(world, name, ledger);
  world.at(kDisturbed, [&] { world.heal(); });
  make_plan();
  world.run();
  world.heal();
  world.at(0s, [&] { world.crash_folder("/plan"); });
  delay(5s);
  check_plan();
}

}  // namespace
