// SPDX-License-Identifier: Apache-2.0

// A history made by hand, and what is wrong with it.

#include <cstdio>
#include <fermata/sim.hpp>

using namespace fermata::sim::models;

int main() {
  fermata::sim::History<Register<int>> history("setting");
  history.invoke("Ada", Write{1}).responds();
  const auto write = history.invoke("Ada", Write{2});
  history.invoke("Bob", Read{}).responds(1);
  history.invoke("Bob", Read{}).responds(2);
  write.responds();
  history.invoke("Eve", Read{}).responds(1);
  std::fputs(history.text(history.check()).c_str(), stdout);
}
