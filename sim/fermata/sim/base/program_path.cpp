// SPDX-License-Identifier: Apache-2.0
#include "fermata/sim/base/program_path.hpp"

#include <filesystem>
#include <system_error>

#include "fermata/base/assert.hpp"

namespace fermata::sim::detail {

std::string program_path() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

std::string path_to_type() {
  const std::string program = program_path();
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string() + '/';
  if (error || program.substr(0, folder.size()) != folder) return program;
  return "./" + program.substr(folder.size());
}

std::string shell_quoted(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char letter : word) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  FERMATA_ASSERT(quoted.size() > word.size());
  return quoted + '\'';
}

}  // namespace fermata::sim::detail
