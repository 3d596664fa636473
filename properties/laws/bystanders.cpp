// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/bystanders.hpp"

#include <rapidcheck.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fermata/runtime.hpp"
#include "properties/interpreter/state.hpp"
#include "properties/models/complaint.hpp"

namespace fermata::properties {
namespace {

using Work = std::vector<std::uint8_t>;  // What one bystander does.
using Works = std::vector<Work>;
using Running = std::vector<Coroutine<std::uint64_t>>;  // They go with the run.

rc::Gen<Works> some_works() {
  const auto numbers = rc::gen::inRange<std::uint8_t>(0, 40);
  return rc::gen::mapcat(rc::gen::inRange(3, 11), [numbers](int count) {
    const auto work = rc::gen::resize(8, rc::gen::container<Work>(numbers));
    return rc::gen::container<Works>(static_cast<std::size_t>(count), work);
  });
}

std::uint64_t step(std::uint64_t sum, std::uint8_t number) { return sum * 31 + number; }

std::uint64_t expected(const Work& work) {
  std::uint64_t sum = 0;
  for (const std::uint8_t number : work) sum = step(sum, number);
  return sum;
}

std::uint64_t carry_out(const Work& work) {
  std::uint64_t sum = 0;
  for (const std::uint8_t number : work) {
    switch (number % 5) {
      case 0:
        suspend();
        break;
      case 1:
        delay(std::chrono::milliseconds(number));
        break;
      case 2:
        sim::consume(std::chrono::microseconds(number));
        break;
      case 3: {
        sum = await(spawn("child", [sum, number] {
          suspend();
          return step(sum, number);
        }));
        continue;
      }
      default: {
        PlainEvent promise(current_runtime(), true);
        const auto helper = spawn("helper", [&promise] { promise.complete(); });
        wait(promise);
        await(helper);
        break;
      }
    }
    sum = step(sum, number);
  }
  return sum;
}

Running spawn_all(const Works& works) {
  Running running;
  for (const Work& work : works) {
    running.push_back(spawn("bystander", [&work] { return carry_out(work); }));
  }
  return running;
}

void join(const Running& running, const Works& works, sim::World& world) {
  models::Complaint complaint;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (await(running[i]) != expected(works[i])) {
      complaint = "CORE-GL-12 (LIN): bystander " + std::to_string(i) + " has another result";
    }
  }
  if (!complaint.empty()) world.fail(sim::Verdict::Safety, complaint);
}

}  // namespace

rc::Gen<Scenario> among_bystanders(std::function<void(sim::World&)> body) {
  return rc::gen::map(some_works(), [body = std::move(body)](Works made) {
    const auto works = std::make_shared<const Works>(std::move(made));
    const auto play = [works, body](sim::World& world) {
      const Running running = spawn_all(*works);
      body(world);
      join(running, *works, world);
      return Tally{};
    };
    return Scenario{play, [works] { return std::to_string(works->size()) + " bystanders"; }};
  });
}

constinit const Law kChoiceIndependence = {
    "choice_independence", "what does not race has one result under every schedule", {}, [] {
      return among_bystanders([](sim::World&) {});
    }};

}  // namespace fermata::properties
