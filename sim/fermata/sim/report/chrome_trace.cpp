// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/report/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fermata/base/assert.hpp"
#include "fermata/sim/record/run_log.hpp"
#include "fermata/sim/report/run_data.hpp"
#include "fermata/sim/report/step_text.hpp"

namespace fermata::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kWidth = kStepWidth.count();

/// Where something is drawn: a slice on a thread.
struct Spot {
  std::size_t process = 0;
  std::size_t thread = 0;
  std::int64_t begin = 0;
};

class Trace {
 public:
  explicit Trace(const RunReport::Run& run)
      : run_(run), run_log_(*run.run_log), machines_(machines_of(run_log_)) {}

  Json events() {
    name_threads();
    place_steps();
    add_steps();
    add_wakes();
    add_messages();
    add_turns();
    add_lines();
    add_faults();
    return std::move(events_);
  }

 private:
  /// In microseconds, as the format has it.
  static double time_of(std::int64_t nanoseconds) {
    FERMATA_ASSERT(nanoseconds >= 0);
    return static_cast<double>(nanoseconds) / 1000.0;
  }

  // Numbers of processes and threads begin at 1.
  [[nodiscard]] std::size_t process_of(const std::string& machine) const {
    const auto found = std::find(machines_.begin(), machines_.end(), machine);
    FERMATA_ASSERT(found != machines_.end());
    return static_cast<std::size_t>(found - machines_.begin()) + 1;
  }
  [[nodiscard]] std::size_t network_of(std::size_t process) const {
    FERMATA_ASSERT(process > 0);
    return run_log_.lanes().size() + process;
  }

  void name(const char* what, std::size_t process, std::size_t thread, const std::string& text) {
    events_.push_back({{"ph", "M"},
                       {"name", what},
                       {"pid", process},
                       {"tid", thread},
                       {"args", {{"name", text}}}});
  }

  void name_threads() {
    for (const std::string& machine : machines_) {
      const std::size_t process = process_of(machine);
      name("process_name", process, 0, machine);
      name("thread_name", process, network_of(process), "network");
    }
    for (std::size_t lane = 0; lane < run_log_.lanes().size(); ++lane) {
      const RunLog::Lane& each = run_log_.lanes()[lane];
      name("thread_name", process_of(each.machine), lane + 1, each.name);
    }
  }

  void place_steps() {
    std::int64_t end = 0;
    std::int64_t latest = 0;
    for (const RunLog::Step& step : run_log_.steps()) {
      latest = std::max(latest, step.at.nanoseconds);
      const std::int64_t begin = std::max(end, step.at.nanoseconds);
      begins_.push_back(begin);
      times_.push_back(latest);
      end = begin + kWidth;
    }
    FERMATA_ASSERT(begins_.size() == times_.size());
    steps_of_.resize(run_log_.lanes().size());
    for (std::size_t i = 0; i < run_log_.steps().size(); ++i) {
      steps_of_[run_log_.steps()[i].lane].push_back(i);
    }
  }

  /// Where `when` is drawn: behind the steps of earlier times.
  [[nodiscard]] std::int64_t place_of(Instant when) const {
    const auto later = std::lower_bound(times_.begin(), times_.end(), when.nanoseconds);
    const auto before = static_cast<std::size_t>(later - times_.begin());
    FERMATA_ASSERT(before <= begins_.size());
    const std::int64_t end = before == 0 ? 0 : begins_[before - 1] + kWidth;
    return std::max(when.nanoseconds, end);
  }

  [[nodiscard]] Spot spot_of(std::size_t step) const {
    FERMATA_ASSERT(step < begins_.size());
    const std::size_t lane = run_log_.steps()[step].lane;
    return {process_of(run_log_.lanes()[lane].machine), lane + 1, begins_[step]};
  }

  void add_slice(const Spot& spot, const std::string& title, Json arguments) {
    FERMATA_ASSERT(spot.process > 0);
    FERMATA_ASSERT(spot.thread > 0);
    events_.push_back({{"ph", "X"},
                       {"name", title},
                       {"pid", spot.process},
                       {"tid", spot.thread},
                       {"ts", time_of(spot.begin)},
                       {"dur", time_of(kWidth)},
                       {"args", std::move(arguments)}});
  }

  void add_arrow(const Spot& from, const Spot& to, const char* kind) {
    FERMATA_ASSERT(from.process > 0);
    FERMATA_ASSERT(to.process > 0);
    const auto end = [&](const char* phase, const Spot& spot) {
      Json json = {{"ph", phase},
                   {"cat", kind},
                   {"name", kind},
                   {"id", arrows_},
                   {"pid", spot.process},
                   {"tid", spot.thread},
                   {"ts", time_of(spot.begin)}};
      if (*phase == 'f') json["bp"] = "e";
      events_.push_back(std::move(json));
    };
    ++arrows_;
    end("s", from);
    end("f", to);
  }

  void add_steps() {
    for (std::size_t i = 0; i < run_log_.steps().size(); ++i) {
      const RunLog::Step& step = run_log_.steps()[i];
      Json arguments = {{"step", step.number}, {"at_ns", step.at.nanoseconds}};
      if (!step.reason.empty()) arguments["why"] = step.reason;
      add_slice(spot_of(i), title_of(step), std::move(arguments));
    }
  }

  static std::string title_of(const RunLog::Step& step) {
    switch (step.ending) {
      case RunLog::Ending::Yields:
        return fmt::format("yields {}", short_place(step.place));
      case RunLog::Ending::Waits:
        return fmt::format("waits {}", short_place(step.place));
      case RunLog::Ending::Ends:
        return "ends";
      case RunLog::Ending::Fails:
        return "fails";
      case RunLog::Ending::Cancelled:
        return "ends, cancelled";
      case RunLog::Ending::Unwound:
        return "is unwound";
      case RunLog::Ending::Runs:
        break;
    }
    return "is running when the run ends";
  }

  void add_wakes() {
    for (std::size_t i = 0; i < run_log_.steps().size(); ++i) {
      for (const RunLog::Wake& wake : run_log_.steps()[i].woken) {
        FERMATA_ASSERT(wake.lane < steps_of_.size());
        const std::vector<std::size_t>& own = steps_of_[wake.lane];
        const auto next = std::upper_bound(own.begin(), own.end(), i);
        if (wake.cause == backend::WakeCause::Yield || next == own.end()) continue;
        add_arrow(spot_of(i), spot_of(*next),
                  wake.cause == backend::WakeCause::Spawn ? "spawn" : "wake");
      }
    }
  }

  /// What is drawn on the threads called "network": one thing after the other.
  struct Parcel {
    std::size_t message;
    bool arrives;
    std::int64_t begin;
  };

  void add_messages() {
    const auto& messages = run_log_.message_log().messages();
    std::vector<Parcel> parcels;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Message& message = messages[i];
      if (!has_step(message)) parcels.push_back({i, false, place_of(message.sent)});
      if (message.arrival != Instant::never()) {
        parcels.push_back({i, true, place_of(message.arrival)});
      }
    }
    std::stable_sort(parcels.begin(), parcels.end(),
                     [](const Parcel& a, const Parcel& b) { return a.begin < b.begin; });
    std::vector<std::int64_t> free(machines_.size() + 1);
    std::vector<Spot> sent(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) {
      if (has_step(messages[i])) sent[i] = spot_of(*messages[i].step - run_log_.forgotten());
    }
    for (const Parcel& parcel : parcels) {
      const Message& message = messages[parcel.message];
      const std::size_t process = process_of(parcel.arrives ? message.to : message.from);
      FERMATA_ASSERT(process < free.size());
      const Spot spot{process, network_of(process), std::max(parcel.begin, free[process])};
      free[process] = spot.begin + kWidth;
      add_slice(spot, fmt::format("{} {}", parcel.arrives ? "gets" : "sends", text_of(message)),
                {{"message", message_text(message)},
                 {"at_ns", (parcel.arrives ? message.arrival : message.sent).nanoseconds},
                 {"fate", to_string(message.fate)}});
      if (parcel.arrives) {
        add_arrow(sent[parcel.message], spot, "message");
      } else {
        sent[parcel.message] = spot;
      }
    }
  }

  [[nodiscard]] bool has_step(const Message& message) const {
    return message.step && *message.step >= run_log_.forgotten();
  }

  static std::string text_of(const Message& message) {
    const bool carries =
        message.kind == Message::Kind::Data || message.kind == Message::Kind::Datagram;
    return carries ? fmt::format("{}, {} bytes", to_string(message.kind), message.size)
                   : std::string(to_string(message.kind));
  }

  void add_instant(std::int64_t when, const std::string& title, const char* category,
                   std::optional<std::size_t> process) {
    events_.push_back({{"ph", "i"},
                       {"cat", category},
                       {"name", title},
                       {"pid", process.value_or(1)},
                       {"tid", process ? network_of(*process) : network_of(1)},
                       {"ts", time_of(when)},
                       {"s", process ? "p" : "g"}});
  }

  void add_turns() {
    for (std::size_t i = 0; i < run_log_.turns().size(); ++i) {
      const RunLog::Turn& turn = run_log_.turns()[i];
      if (goes_without_saying(turn.decision, run_.names)) continue;
      const std::size_t step = turn.step - std::min(turn.step, run_log_.forgotten());
      const std::int64_t end = begins_.empty() ? 0 : begins_.back() + kWidth;
      const std::int64_t when = step < begins_.size() ? begins_[step] : end;
      const char* decides = run_.decisive == i ? " (this decides)" : "";
      add_instant(when, describe(turn.decision, run_.names) + decides, "decision", std::nullopt);
    }
  }

  /// A line of a coroutine is in its thread, another one beside the faults of its machine.
  void add_lines() {
    for (const RunLog::Line& line : run_log_.lines()) {
      if (!line.lane) {
        add_instant(place_of(line.at), line.text, "log",
                    line.machine.empty() ? std::nullopt : std::optional(process_of(line.machine)));
      } else if (line.step >= run_log_.forgotten()) {
        const Spot spot = spot_of(line.step - run_log_.forgotten());
        events_.push_back({{"ph", "i"},
                           {"cat", "log"},
                           {"name", line.text},
                           {"pid", spot.process},
                           {"tid", spot.thread},
                           {"ts", time_of(spot.begin)},
                           {"s", "t"}});
      }
    }
  }

  void add_faults() {
    for (const RunLog::Disturbance& fault : run_log_.disturbances()) {
      add_instant(place_of(fault.at), fault.text, "fault",
                  fault.machine.empty() ? std::nullopt : std::optional(process_of(fault.machine)));
    }
  }

  const RunReport::Run& run_;
  const RunLog& run_log_;
  std::vector<std::string> machines_;
  std::vector<std::int64_t> begins_;                // Of the steps, as they are drawn,
  std::vector<std::int64_t> times_;                 // and as they were; never less than before.
  std::vector<std::vector<std::size_t>> steps_of_;  // Of each lane.
  std::uint64_t arrows_ = 0;
  Json events_ = Json::array();
};

}  // namespace

std::string chrome_trace(const RunReport& report) {
  FERMATA_REQUIRE(!report.runs.empty(), "a report shows a run");
  const Json json = {{"displayTimeUnit", "ns"},
                     {"otherData",
                      {{"fermata", FERMATA_VERSION},
                       {"test", report.test},
                       {"reproduce", report.reproduce},
                       {"failure", report.failure ? report.failure->message : "none"}}},
                     {"traceEvents", Trace(report.runs.front()).events()}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fermata::sim
