// SPDX-License-Identifier: Apache-2.0

// The unit of what building costs: `./dev` compiles this three times and prints the median beside
// its own figures, so that these can be compared between machines. It includes nothing of Fermata
// and is not to change.

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::map<std::string, std::vector<int>, std::less<>> lines;
  const std::regex word("([a-z]+)=([0-9]+)");
  for (int i = 1; i < argc; ++i) {
    std::smatch match;
    const std::string argument = argv[i];
    if (std::regex_match(argument, match, word)) lines[match[1]].push_back(std::stoi(match[2]));
  }
  const auto start = std::chrono::steady_clock::now();
  for (auto& [name, values] : lines) {
    std::sort(values.begin(), values.end(), std::greater<>());
    std::cout << name << ' ' << values.front() << '\n';
  }
  const auto shared = std::make_shared<std::function<double()>>([start] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  });
  std::cout << (*shared)() << '\n';
}
