// SPDX-License-Identifier: Apache-2.0

// Actors that iterate: over a range or a source, with callbacks that pause, nap, stop and fail.

#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "properties/models/iteration_model.hpp"
#include "properties/scripts/law.hpp"

namespace fermata::properties {
namespace {
namespace iteration {

using std::chrono::milliseconds;

enum class Manner : std::uint8_t { OverARange, OverASource, Failing, Stopping, Spawning };

/// One iteration. Its callbacks outlive the actor when the run ends by force, so they share it.
struct Run {
  Stage& stage;
  models::IterationModel model;
  std::size_t count;  // Of elements.
  Manner manner;
  std::size_t taste;    // What the callbacks do.
  std::size_t spawned;  // By callbacks, and not ended.
};

/// Counts one of something for as long as it lives.
class Counted {
 public:
  Counted(std::shared_ptr<Run> run) : run_(std::move(run)) { ++run_->spawned; }
  Counted(Counted&& other) noexcept = default;
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (run_ != nullptr) --run_->spawned;
  }

 private:
  std::shared_ptr<Run> run_;
};

/// Now and then a callback or the source waits.
void dawdle(std::size_t number) {
  if (number % 3 == 1) suspend();
  if (number % 3 == 2) delay(milliseconds(number % 5));
}

bool call(const std::shared_ptr<Run>& run, std::size_t element) {
  run->stage.complain(run->model.started(element));
  struct Ended {
    Run& run;
    ~Ended() { run.model.ended(); }
  } ended{*run};
  dawdle(element + run->taste);
  if ((element + run->taste) % 4 != 3) return true;
  switch (run->manner) {
    case Manner::Failing:
      run->model.failed(element);
      throw PlannedError(static_cast<std::uint32_t>(element));
    case Manner::Stopping:
      run->model.stopped();
      return false;
    case Manner::Spawning:
      spawn("spawned", [counted = Counted(run)] { delay(milliseconds(3)); });
      return true;
    default:
      return true;
  }
}

std::optional<std::size_t> pull(Run& run, std::size_t& next) {
  run.stage.complain(run.model.asked());
  try {
    dawdle(next + run.taste / 2);
  } catch (...) {
    run.model.broke();
    throw;
  }
  run.model.answered(next < run.count);
  return next < run.count ? std::optional(next++) : std::nullopt;
}

void iterate_over(const std::shared_ptr<Run>& run, const IterateOptions& options) {
  const auto callback = [run](std::size_t element) { return call(run, element); };
  if (run->manner == Manner::OverASource) {
    return iterate([run, next = std::size_t{0}]() mutable { return pull(*run, next); }, callback,
                   options);
  }
  std::vector<std::size_t> elements;
  for (std::size_t i = 0; i < run->count; ++i) elements.push_back(i);
  iterate(std::move(elements), callback, options);
}

class Iterations final : public Subject {
 public:
  static constexpr auto operations() {
    return std::to_array<Operation>({
        {3, "iterate over a range", does<&Iterations::run, Manner::OverARange>},
        {3, "iterate over a source", does<&Iterations::run, Manner::OverASource>},
        {3, "iterate, and fail", does<&Iterations::run, Manner::Failing>},
        {2, "iterate, and stop", does<&Iterations::run, Manner::Stopping>},
        {2, "iterate, and spawn", does<&Iterations::run, Manner::Spawning>},
    });
  }

  using Subject::Subject;

 private:
  void run(const Cue& cue, Manner manner) {
    const std::size_t limit = stage.script().shape[1] % 4u;
    const std::size_t count = 1 + cue.number % 7u;
    const IterateOptions options{.concurrency = static_cast<std::ptrdiff_t>(limit),
                                 .cancel_pending = cue.number % 2 == 0};
    const auto run =
        std::make_shared<Run>(Run{stage, {count, limit}, count, manner, cue.number, 0});
    try {
      iterate_over(run, options);
      finish(*run, run->model.returned(false));
    } catch (const PlannedError& error) {
      finish(*run, run->model.thrown(error.number));
    } catch (const Cancellation&) {
      finish(*run, run->model.returned(true));
      throw;
    }
  }

  void finish(const Run& run, const models::Complaint& complaint) {
    stage.complain(complaint);
    if (run.spawned == 0) return;
    stage.complain("CORE-IT-05 (DL-): the iteration is over, and what it has spawned runs on");
  }
};

}  // namespace iteration
}  // namespace

constinit const Law kIteration = {
    "iteration",
    "each element is handed out once and in order, to no more callbacks than allowed, and nothing "
    "of an iteration is left when it returns",
    {"CORE-IT-01", "CORE-IT-02", "CORE-IT-04", "CORE-IT-05", "CORE-IT-06", "CORE-IT-07",
     "CORE-IT-10"},
    &scripts_over<iteration::Iterations>};

}  // namespace fermata::properties
