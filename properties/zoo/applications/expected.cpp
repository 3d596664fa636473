// SPDX-License-Identifier: Apache-2.0
#include "properties/zoo/applications/expected.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

namespace fermata::properties::zoo {
namespace {

constexpr const char* kFolder = FERMATA_SOURCE_DIR "/properties/zoo/applications/";
constexpr std::size_t kColumns = 10;

std::vector<std::string> parts(std::string_view text, char separator) {
  std::vector<std::string> all;
  std::istringstream stream{std::string(text)};
  for (std::string part; std::getline(stream, part, separator);) all.push_back(part);
  return all;
}

}  // namespace

std::vector<Expected> read_expected() {
  std::ifstream file(std::string(kFolder) + "expected.tsv");
  std::vector<Expected> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> columns = parts(line, '\t');
    if (columns.size() != kColumns) {
      ADD_FAILURE() << "expected.tsv: " << columns.size() << " columns: " << line;
      continue;
    }
    all.push_back({columns[0], columns[3], std::stoul(columns[4]), columns[5], columns[6],
                   columns[7], columns[8]});
  }
  return all;
}

bool has_one_of(std::string_view text, std::string_view alternatives) {
  const auto all = parts(alternatives, '|');
  return std::any_of(all.begin(), all.end(), [&](const std::string& each) {
    return text.find(each) != std::string_view::npos;
  });
}

bool is_one_of(std::string_view text, std::string_view alternatives) {
  const auto all = parts(alternatives, '|');
  return std::find(all.begin(), all.end(), text) != all.end();
}

const Application* find_application(std::string_view name) {
  const auto all = applications();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Application& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string source_of(std::string_view name) {
  std::string path = kFolder;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool capital = name[i] >= 'A' && name[i] <= 'Z';
    if (capital && i > 0) path += '_';
    path += capital ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  std::ifstream file(path + ".cpp");
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace fermata::properties::zoo
