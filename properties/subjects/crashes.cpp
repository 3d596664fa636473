// SPDX-License-Identifier: Apache-2.0

// A machine with a file that the actors, on another machine, tell what to do: write, sync, go down
// and come up again. What it has synced is there each time when it comes up.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "fermata/runtime/runtime.hpp"
#include "properties/models/file_model.hpp"
#include "properties/scripts/law.hpp"
#include "properties/subjects/disk.hpp"

namespace fermata::properties::scripts {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

enum Operations : std::uint8_t { kWrite, kSync, kRead, kCrash, kRestart };
constexpr std::array<Operation, 5> kOperations = {
    {{"write", 10}, {"sync", 6}, {"read", 3}, {"crash", 2}, {"restart", 4}}};

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
  void crash() {
    model_.crashed();
    jobs_.clear();
    ++starts_;
  }
  void end() { ending_ = true; }

  /// The program; `self` is what keeps this.
  void run(const std::shared_ptr<Machine>& self) {
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
    const unsigned start = starts_;
    switch (job.what) {
      case kWrite: {
        const auto write = model_.begin(job.place, job.size);
        const std::vector<std::byte> bytes = model_.bytes_of(write);
        file.write_at(job.place, bytes);
        if (start == starts_) model_.done(write);
        return;
      }
      case kSync:
        return sync(file, start);
      default: {
        const auto moment = model_.now();
        std::vector<std::byte> buffer(job.size);
        const std::size_t count = file.read_at(job.place, buffer);
        complain(model_.read_aside(moment, job.place, std::span(buffer).first(count)));
      }
    }
  }

  void sync(File& file, unsigned start) {
    const auto moment = model_.now();
    try {
      file.sync();
    } catch (const InputOutputError&) {
      if (start == starts_) model_.sync_failed();
      throw;
    }
    if (start == starts_) model_.synced(moment);
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
        node_(on.world().node("machine", [machine = machine_] { machine->run(machine); })) {}

  void perform(std::size_t actor, const Step& step) override {
    if (ended_) return;
    switch (step.operation()) {
      case kCrash:
        return crash();
      case kRestart:
        return restart();
      default:
        break;
    }
    const std::size_t place = (actor * 5 + step.number) % 16 * kPlaces;
    machine_->ask({static_cast<std::uint8_t>(step.operation()), place,
                   kSizes[(actor + step.number) % kSizes.size()]});
    delay(milliseconds(step.number % 4));
  }

  void at_rest() override {}

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

  void at_end() override {}

 private:
  // Both take effect when the present step ends, or later.
  void crash() {
    if (!up_ || !node_.is_up()) return;
    up_ = false;
    machine_->crash();
    node_.crash();
    delay(milliseconds(1));
  }
  void restart() {
    if (up_ || node_.is_up()) return;
    up_ = true;
    node_.restart();
    delay(milliseconds(1));
  }

  std::shared_ptr<Machine> machine_;
  sim::Node& node_;
  bool up_ = true;
  bool ended_ = false;
};

}  // namespace

constinit const Law kCrashes = {
    "crashes",
    "what was synced is there after a crash, and nothing is there that was never written",
    kOperations, &make_subject<Crashes>};

}  // namespace fermata::properties::scripts
