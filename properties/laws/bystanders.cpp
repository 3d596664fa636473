// SPDX-License-Identifier: Apache-2.0
#include "properties/laws/bystanders.hpp"

#include <rapidcheck.h>

#include <string>

#include "fermata/sim/world/world.hpp"
#include "properties/interpreter/stage.hpp"

namespace fermata::properties {
namespace {

std::uint64_t step(std::uint64_t sum, std::uint8_t number) { return sum * 31 + number; }

}  // namespace

void Bystanders::prepare(std::uint64_t seed) {
  const auto numbers = rc::gen::inRange<std::uint8_t>(0, 40);
  const auto works = rc::gen::mapcat(rc::gen::inRange(3, 11), [numbers](int count) {
    const auto work = rc::gen::resize(8, rc::gen::container<Work>(numbers));
    return rc::gen::container<std::vector<Work>>(static_cast<std::size_t>(count), work);
  });
  works_ = works(rc::Random(seed)).value();
}

std::uint64_t Bystanders::expected(const Work& work) {
  std::uint64_t sum = 0;
  for (const std::uint8_t number : work) sum = step(sum, number);
  return sum;
}

std::uint64_t Bystanders::carry_out(const Work& work) {
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

Bystanders::Running Bystanders::spawn_all() const {
  Running running;
  for (const Work& work : works_) {
    running.push_back(spawn("bystander", [&work] { return carry_out(work); }));
  }
  return running;
}

models::Complaint Bystanders::join(const Running& running) const {
  models::Complaint complaint;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (await(running[i]) != expected(works_[i])) {
      complaint = "CORE-GL-12 (LIN): bystander " + std::to_string(i) + " has another result";
    }
  }
  return complaint;
}

}  // namespace fermata::properties
