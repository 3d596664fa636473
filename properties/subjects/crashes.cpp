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

enum Operations : std::uint8_t { kWrite, kSync, kRead, kCrash, kRestart };
constexpr std::array kOperations = {10 * "write"_op, 6 * "sync"_op, 3 * "read"_op, 2 * "crash"_op,
                                    4 * "restart"_op};

constexpr const char* kPath = "/file";
constexpr std::array<std::size_t, 4> kSizes = {1, 20, 300, 3'000};
constexpr std::size_t kPlaces = 200;

/// What the machine's program and those who use it share. It knows no runtime.
class Machine {
 public:
  struct Job {
    std::uint8_t what;
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
    switch (job.what) {
      case kWrite:
        return write(file, job);
      case kSync:
        return sync(file);
      default: {
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
  explicit Crashes(Stage& on)
      : Subject(on),
        machine_(std::make_shared<Machine>(on.world())),
        node_(on.world().node("machine", [machine = machine_] { machine->run(machine); })) {
    node_.may_crash().may_pause();
  }

  void perform(std::size_t actor, const Step& step) override {
    if (ended_) return;
    switch (operation_of(step)) {
      case kCrash:
        return crash();
      case kRestart:
        return restart();
      default:
        break;
    }
    const std::size_t place = (actor * 5 + step.number) % 16 * kPlaces;
    machine_->ask({static_cast<std::uint8_t>(operation_of(step)), place,
                   kSizes[(actor + step.number) % kSizes.size()]});
    delay(milliseconds(step.number % 4));
  }

  void let_go() override {
    ended_ = true;
    restart();
    delay(seconds(60));
    crash();
    delay(milliseconds(1));
    restart();
    machine_->end();
    stage.world().run();
  }

 private:
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
  bool ended_ = false;
};

}  // namespace crashes
}  // namespace

constinit const Law kCrashes = {
    "crashes",
    "what was synced is there after a crash, and nothing is there that was never written",
    {"G-05", "G-09", "IO-10"},
    &scripts_over<crashes::Crashes, crashes::kOperations>};

}  // namespace fermata::properties
