// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/applications/application.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace fermata::properties::zoo {
namespace {

std::vector<Application>& registered() {
  static std::vector<Application> all;
  return all;
}

}  // namespace

RegisteredApplication::RegisteredApplication(const Application& application) {
  std::vector<Application>& all = registered();
  const auto place =
      std::lower_bound(all.begin(), all.end(), application,
                       [](const Application& a, const Application& b) { return a.name < b.name; });
  all.insert(place, application);
}

std::span<const Application> applications() { return registered(); }

void spawn_bystanders(int count) {
  for (int i = 0; i < count; ++i) {
    spawn("bystander", [] {
      suspend();
      delay(std::chrono::milliseconds(1));
      suspend();
    });
  }
}

}  // namespace fermata::properties::zoo
