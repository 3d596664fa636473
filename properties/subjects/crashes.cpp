// SPDX-License-Identifier: Apache-2.0

// A machine with a file that the actors, on another machine, tell what to do: write, sync, go down
// and come up again. It goes down by itself, too, at any moment, and may stop for a while; and what
// it does goes wrong in ways that only its program knows of. What it has synced is there each time
// when it comes up.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/models/file_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/disk.hpp"

namespace fermata::properties {
namespace {
namespace crashes {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kPath = "/file";
constexpr std::array<std::size_t, 4> kSizes = {1, 20, 300, 3'000};
constexpr std::size_t kPlaces = 200;

/// What the machine's program and those who use it share. It knows no runtime.
class Machine {
 public:
  enum class Task : std::uint8_t { Write, SetSize, Sync, Read };
  struct Job {
    Task task;
    std::size_t place;
    std::size_t size;
  };

  explicit Machine(sim::World& world) : world_(world) {}

  void ask(const Job& job) { jobs_.push_back(job); }
  void end() { ending_ = true; }

  /// The program; `self` is what keeps this.
  void run(const std::shared_ptr<Machine>& self) {
    if (++starts_ > 1) {
      model_.crashed();
      jobs_.clear();
    }
    File file = open(kPath, OpenMode::updating());
    insist([] { fs::sync_directory("/"); });
    expect_what_lasts();
    const auto shared = std::make_shared<File>(std::move(file));
    std::vector<Coroutine<>> workers;
    Duration pause = milliseconds(1);
    while (!ending_) {
      pause = jobs_.empty() ? std::min<Duration>(pause * 2, seconds(10)) : milliseconds(1);
      for (; !jobs_.empty(); jobs_.pop_front()) {
        workers.push_back(spawn("worker", [self, shared, job = jobs_.front()] {
          try {
            self->carry_out(*shared, job);
          } catch (const InputOutputError&) {
          }
        }));
      }
      delay(pause);
    }
    for (const Coroutine<>& worker : workers) await(worker);
    expect_what_lasts();
  }

 private:
  void expect_what_lasts() {
    const auto moment = model_.now();
    complain(model_.read_in_line(moment, 0, contents(kPath)));
  }

  void carry_out(File& file, const Job& job) {
    switch (job.task) {
      case Task::Write:
        return write(file, job);
      case Task::SetSize:
        return set_size(file, job.place);
      case Task::Sync:
        return sync(file);
      case Task::Read: {
        const auto moment = model_.now();
        std::vector<std::byte> buffer(job.size);
        const std::size_t count = file.read_at(job.place, buffer);
        complain(model_.read_aside(moment, job.place, std::span(buffer).first(count)));
      }
    }
  }

  void write(File& file, const Job& job) {
    if (FERMATA_FAULT("program.writes_in_parts")) {
      const std::size_t half = job.size / 2;
      if (half > 0) write(file, job.place, half);
      if (FERMATA_FAULT("program.gives_up")) return;
      write(file, job.place + half, job.size - half);
    } else {
      write(file, job.place, job.size);
    }
    if (FERMATA_FAULT("program.syncs_at_once")) sync(file);
  }

  void write(File& file, std::size_t place, std::size_t size) {
    const auto write = model_.begin(place, size);
    const std::vector<std::byte> bytes = model_.bytes_of(write);
    file.write_at(place, bytes);
    model_.done(write);
  }

  void set_size(File& file, std::size_t size) {
    const auto write = model_.begin_to_set_size(size);
    file.truncate(size);
    model_.done(write);
  }

  void sync(File& file) {
    const auto moment = model_.now();
    try {
      file.sync();
    } catch (const InputOutputError&) {
      model_.sync_failed();
      throw;
    }
    model_.synced(moment);
  }

  void complain(const models::Complaint& complaint) {
    if (!complaint.empty()) {
      world_.fail(sim::Verdict::Safety, fmt::format("start {}: {}", starts_, complaint));
    }
  }

  sim::World& world_;
  models::FileModel model_;
  std::deque<Job> jobs_;
  unsigned starts_ = 0;
  bool ending_ = false;
};

class Crashes final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {10, "write", does<&Crashes::ask, Machine::Task::Write>},
        {2, "set size", does<&Crashes::ask, Machine::Task::SetSize>},
        {6, "sync", does<&Crashes::ask, Machine::Task::Sync>},
        {3, "read", does<&Crashes::ask, Machine::Task::Read>},
        {2, "crash", does<&Crashes::crash>},
        {4, "restart", does<&Crashes::restart>},
    });
  }

  explicit Crashes(Stage& on)
      : Subject(on),
        machine_(std::make_shared<Machine>(on.world())),
        node_(on.world().node("machine", [machine = machine_] { machine->run(machine); })) {
    node_.may_crash().may_pause();
  }

  void let_go() override {
    is_ending = true;
    restart();
    delay(seconds(60));
    crash();
    delay(milliseconds(1));
    restart();
    machine_->end();
    stage.world().run();
  }

 private:
  void ask(const Cue& cue, Machine::Task task) {
    const std::size_t place = (cue.actor * 5 + cue.number) % 16 * kPlaces;
    machine_->ask({task, place, kSizes[(cue.actor + cue.number) % kSizes.size()]});
    delay(milliseconds(cue.number % 4));
  }

  // By the time they take effect it may have done the same by itself.
  void crash() {
    stage.world().at(Duration::zero(), [&node = node_] {
      if (node.is_up()) node.crash();
    });
    delay(milliseconds(1));
  }
  void restart() {
    stage.world().at(Duration::zero(), [&node = node_] {
      if (!node.is_up()) node.restart();
    });
    delay(milliseconds(1));
  }

  std::shared_ptr<Machine> machine_;
  sim::Node& node_;
};

}  // namespace crashes
}  // namespace

constinit const Law kCrashes = {
    "crashes",
    "what was synced is there after a crash, and nothing is there that was never written",
    {"G-05", "G-09", "IO-10"},
    &scripts_over<crashes::Crashes>};

}  // namespace fermata::properties
